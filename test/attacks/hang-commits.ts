/**
 * Preloaded into a Node-RED and its threads: while a file is there, the database hangs in each commit, as on a disk that does not answer.
 * HUNG_WHILE names the file, and HUNG_PIPE a pipe: the commit goes on when somebody opens it to write.
 */
import { existsSync, closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const { HUNG_WHILE: hungWhile = "", HUNG_PIPE: pipe = "" } = process.env;
const { exec } = DatabaseSync.prototype;

DatabaseSync.prototype.exec = function (sql) {
  if (sql === "COMMIT" && existsSync(hungWhile)) {
    closeSync(openSync(pipe, "r"));
  }
  exec.call(this, sql);
};
