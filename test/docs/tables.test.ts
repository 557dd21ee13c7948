import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { jobStates, statesBefore, type JobState } from "../../src/jobs/table/job-states.ts";
import { errorCodes } from "../../src/errors/dimensioner-error.ts";
import { sentMessages } from "../../tools/write-docs/messages-by-node.ts";
import { readPages, root, type NamedPage } from "./pages.ts";

const pages = readPages();
const pageOf = (path: string): NamedPage => pages.find((page) => page.path === path) ?? assert.fail(path);
const nodesPage = pageOf("docs/nodes.md");
const troubleshooting = pageOf("docs/troubleshooting.md");

/** The first column of the table whose header begins like this. */
function columnOf(page: NamedPage, header: string): string[] {
  const table = page.tables.find(({ header: [first = ""] }) => first === header);
  return table?.rows.map(([cell = ""]) => cell) ?? assert.fail(`${page.path} has no table of ${header}`);
}

/** The short names of the nodes, as the palette has them. */
function paletteLabels(): Map<string, string> {
  return new Map(
    readdirSync(join(root, "nodes")).map((name) => {
      const file = join(root, "nodes", name, "locales/en-US", `${name}.json`);
      const catalog = JSON.parse(readFileSync(file, "utf8")) as { palette?: string };
      return [name, catalog.palette ?? ""];
    }),
  );
}

describe("the tables of the pages", () => {
  it("docs/nodes.md: has every node, as the palette calls it", () => {
    const named = columnOf(nodesPage, "node").flatMap((cell) =>
      [...cell.matchAll(/(\*\*|_)(.+?)\1/g)].map(([, , name]) => name),
    );
    const labels = [...paletteLabels()].map(([name, label]) =>
      label === "" ? name : label.replace(/^dimensioner /, ""),
    );
    assert.deepEqual(named.toSorted(), labels.toSorted());
  });

  it("docs/messages.md: calls the nodes as the palette does", () => {
    const labels = paletteLabels();
    for (const { type, node } of sentMessages) {
      assert.equal(labels.get(type.replace("dimensioner-", "")), node);
    }
  });

  it("docs/troubleshooting.md: has every error code once", () => {
    const named = columnOf(troubleshooting, "code").flatMap((cell) => cell.match(/ERR_[A-Z_]+(?=\])/g) ?? []);
    assert.deepEqual(named.toSorted(), errorCodes.toSorted());
  });

  it("docs/troubleshooting.md: has every outcome", () => {
    assert.deepEqual(columnOf(troubleshooting, "outcome"), [
      "`not-sent`",
      "`refused`",
      "`failed`",
      "`unknown`",
    ]);
  });

  it("docs/archive.md: has the states of a job, their meanings and their order, as the code has them", () => {
    const table = pageOf("docs/archive.md").tables.find(({ header: [first] }) => first === "state");
    const states = Object.entries(jobStates).map(([state, meaning]) => {
      const before = statesBefore[state as JobState].map((one) => `\`${one}\``).join(", ");
      return [`\`${state}\``, meaning, before === "" ? "–" : before];
    });
    assert.deepEqual(table?.rows, states);
  });

  it("docs/nodes.md: has every example, by its name", () => {
    const files = readdirSync(join(root, "examples")).map((name) => name.replace(/\.json$/, ""));
    const named = columnOf(nodesPage, "example").map((cell) => cell.replaceAll("**", ""));
    assert.deepEqual(named, files.toSorted());
  });

  it("docs/recipes.md: explains every example that is a recipe", () => {
    const recipes = readdirSync(join(root, "examples")).filter((name) => / recipe - /.test(name));
    const named = pageOf("docs/recipes.md").text.match(/(?<=\*\*)\d\d recipe - [^*]+(?=\*\*)/g) ?? [];
    assert.deepEqual(named.toSorted(), recipes.map((name) => name.replace(/\.json$/, "")).toSorted());
  });

  it("no page names an environment variable, an error code or a node type that there is not", () => {
    const sources = readdirSync(join(root, "examples"))
      .map((name) => readFileSync(join(root, "examples", name), "utf8"))
      .join();
    const types = Object.keys(
      (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { "node-red": { nodes: object } })[
        "node-red"
      ].nodes,
    );
    const bins = ["copy", "export", "prune", "rebuild", "simulator", "timestamp", "verify"].map(
      (name) => `dimensioner-${name}`,
    );
    for (const { path, text } of pages) {
      const codes = text.match(/\bERR_[A-Z_]+\b/g) ?? [];
      assert.deepEqual(
        codes.filter((code) => !errorCodes.some((one) => one === code)),
        [],
        path,
      );
      const variables = text.match(/\bDIMENSIONER_[A-Z_]+\b/g) ?? [];
      assert.deepEqual(
        variables.filter((name) => !sources.includes(name)),
        [],
        path,
      );
      const named = text.match(/(?<![\w./@-])dimensioner-[a-z-]+(?![\w/])/g) ?? [];
      assert.deepEqual(
        [...new Set(named)].filter((name) => !types.includes(name) && !bins.includes(name)),
        [],
        path,
      );
    }
  });
});
