import * as v from "valibot";
import { type Surface } from "../errors/codes.ts";
import { jsonText } from "../model/json-text.ts";
import { recordLimits } from "../model/parse-json.ts";
import { type Condition, type Database, type Row, always, marksFor, skipLocked } from "./database.ts";
import { type Worker, endedWorkers } from "./worker-lease.ts";
import { dayMs } from "../time/clocks.ts";

const text = v.nullable(v.string());
const commandFacts = v.object({
  surface: v.custom<Surface>((value) => typeof value === "string"),
  references: v.object({
    transactionReference: text,
    customReference1: text,
    customReference2: text,
    customReference3: text,
  }),
  tag: text,
});

/** What a command is recognized by when its answer is lost. */
export type CommandFacts = v.InferOutput<typeof commandFacts>;

/** The node that has sent a command. */
export interface CommandNode {
  readonly id: string;
  /** As the log shows it: the name or, if it has none, the id. */
  readonly name: string;
}

/** A command that waits in the queue of its device, or is about to be sent. */
export interface NotedCommand {
  readonly id: string;
  readonly node: CommandNode;
  /** In the API's words. */
  readonly operation: string;
  /** How people call the device. */
  readonly device: string;
  /** Times are by this computer's clock. */
  readonly notedAt: Date;
  /** Null while it waits. */
  readonly sentAt: Date | null;
  readonly facts: CommandFacts;
  /** The JSON of what is kept of its message. */
  readonly message: string;
}

/** A command that an earlier process has sent, and whose answer it has not noted. */
export interface LeftCommand extends Omit<NotedCommand, "facts"> {
  /** Null if they are not what was written. */
  readonly facts: CommandFacts | null;
}

/** How many commands are taken over in one transaction. */
const mostTaken = 200;
/** Where several processes share a database, one whose node no other has is left for its own so long. */
const leaveMs = dayMs;

/** The commands of the nodes of one type that are running: each is in the database before it is sent, until it was answered. */
export class CommandTable {
  readonly #database: Pick<Database, "transaction">;
  readonly #nodeType: string;
  /** Different for each start of the process. */
  readonly #runId: string;
  readonly #worker: Worker;

  constructor(
    database: Pick<Database, "transaction">,
    {
      nodeType,
      runId,
      worker,
    }: { readonly nodeType: string; readonly runId: string; readonly worker: Worker },
  ) {
    this.#database = database;
    this.#nodeType = nodeType;
    this.#runId = runId;
    this.#worker = worker;
  }

  /**
   * Adds a command that waits, or is about to be sent; then also one that is there. Resolves when it is durable. Rejects with ERR_STORE:
   * then it is not known whether it is there.
   */
  async add({ id, node, operation, device, notedAt, sentAt, facts, message }: NotedCommand): Promise<void> {
    await this.#database.transaction([
      {
        sql: `INSERT INTO commands (command_id, node_type, node_id, node_name, operation, device, noted_at, sent_at, facts,
            message, run_id, worker_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT (command_id) DO UPDATE SET sent_at = COALESCE(commands.sent_at, excluded.sent_at)`,
        values: [
          id,
          this.#nodeType,
          node.id,
          node.name,
          operation,
          device,
          notedAt.toISOString(),
          sentAt?.toISOString() ?? null,
          JSON.stringify(facts),
          message,
          this.#runId,
          this.#worker.id,
        ],
      },
    ]);
  }

  /** Rejects with ERR_STORE. */
  async remove(ids: readonly string[]): Promise<void> {
    await this.#database.transaction([
      { sql: `DELETE FROM commands WHERE command_id IN (${marksFor(ids)})`, values: ids },
    ]);
  }

  /**
   * Takes over what earlier processes have left, and returns it; each goes to one process. Of a database that several share, only what
   * is of these nodes, and what nobody has taken for a day.
   */
  async takeLeft(nodeIds: readonly string[], now: Date): Promise<LeftCommand[]> {
    const others = this.#ofOthers(nodeIds, now);
    const [rows = []] = await this.#database.transaction([
      {
        sql: `UPDATE commands SET run_id = ?, worker_id = ? WHERE command_id IN
          (SELECT command_id FROM commands WHERE node_type = ? AND run_id <> ? AND ${others.sql} LIMIT ? ${skipLocked})
          RETURNING command_id, node_id, node_name, operation, device, noted_at, sent_at, facts, message`,
        values: [this.#runId, this.#worker.id, this.#nodeType, this.#runId, ...others.values, mostTaken],
      },
    ]);
    return rows.map(readRow);
  }

  /** One process has a file for itself: whatever another run has left was left by one that has ended. */
  #ofOthers(nodeIds: readonly string[], now: Date): Condition {
    if (this.#worker.isAlone) {
      return always;
    }
    const ended = endedWorkers(0);
    const ofNodes = nodeIds.length === 0 ? "1 = 0" : `node_id IN (${marksFor(nodeIds)})`;
    return {
      sql: `worker_id IN (${ended.sql}) AND (${ofNodes} OR noted_at < ?)`,
      values: [...ended.values, ...nodeIds, new Date(now.getTime() - leaveMs).toISOString()],
    };
  }
}

function readRow(row: Row): LeftCommand {
  const facts = v.safeParse(v.pipe(jsonText(recordLimits), commandFacts), row["facts"]);
  return {
    id: String(row["command_id"]),
    node: { id: String(row["node_id"]), name: String(row["node_name"]) },
    operation: String(row["operation"]),
    device: String(row["device"]),
    notedAt: new Date(String(row["noted_at"])),
    sentAt: row["sent_at"] === null ? null : new Date(String(row["sent_at"])),
    facts: facts.success ? facts.output : null,
    message: String(row["message"]),
  };
}
