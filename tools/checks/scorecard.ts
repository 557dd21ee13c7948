/**
 * The rules of Node-RED's package scorecard that need no internet, and what the flow library reads from the pages of the
 * nodes. A test holds the installed package to them.
 *
 * node-red-dev, which draws the scorecard, looks up other packages for some of them and cannot run offline.
 */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** What the rules look at. */
export interface Package {
  readonly manifest: Readonly<Record<string, unknown>>;
  /** The names of the files at the top. */
  readonly files: readonly string[];
  /** The built editor half of each node, by the path of its runtime half in package.json. */
  readonly html: ReadonlyMap<string, string>;
  /** The names of the icons that lie beside nodes. */
  readonly icons: readonly string[];
  /** The text of each example flow by its file name. */
  readonly examples: ReadonlyMap<string, string>;
}

/** One sentence for each rule that is broken. */
export function findProblems({ manifest, files, html, icons, examples }: Package): string[] {
  const problems: string[] = [];
  const rule = (id: string, holds: boolean, text: string): void => {
    if (!holds) {
      problems.push(`${id}: ${text}`);
    }
  };
  const at = (...path: string[]): unknown =>
    path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), manifest);

  rule(
    "P01",
    isText(at("license")) && files.includes("LICENSE"),
    "package.json and a LICENSE name the license",
  );
  rule("P02", files.includes("README.md"), "there is a README.md");
  rule(
    "P03",
    isText(at("repository", "url")) && isText(at("bugs", "url")),
    "repository and bugs have an address",
  );
  rule("P04", /^@[a-z0-9-]+\/node-red-[a-z0-9-]+$/.test(String(at("name"))), "the name is scoped");
  rule("P05", listOf(at("keywords")).includes("node-red"), "the keywords hold node-red");
  rule("P06", isText(at("node-red", "version")), "node-red.version says which Node-RED is supported");
  // Node-RED 5 itself runs from 22.9 on, which is what the scorecard asks for; undici 8 asks for 22.19.
  rule("P07", at("engines", "node") === ">=22.19", "engines.node is >=22.19, the least that undici runs on");
  rule("D01", Object.keys(asRecord(at("dependencies"))).length <= 6, "at most 6 dependencies");
  for (const [name, range] of Object.entries(asRecord(at("dependencies")))) {
    const takesNew = String(range)
      .split("||")
      .every((part) => /^\s*\^\d+\.\d+\.\d+\s*$/.test(part));
    rule("D03", takesNew, `${name} (${String(range)}) takes new versions without a release of this package`);
  }
  const scripts = Object.keys(asRecord(at("scripts")));
  rule("D02", !scripts.some((name) => /^(pre|post)?install$/.test(name)), "no install scripts");

  const types = Object.entries(asRecord(at("node-red", "nodes")));
  const registered: string[] = [];
  const used = new Set<string>();
  for (const [name, text] of examples) {
    const nodes: unknown = parse(text);
    rule("N02", Array.isArray(nodes), `examples/${name} is a list at the top`);
    for (const node of Array.isArray(nodes) ? nodes : []) {
      if (isRecord(node)) {
        used.add(String(node["type"]));
      }
    }
  }
  for (const [type, file] of types) {
    const page = html.get(String(file)) ?? "";
    rule("N01", type.startsWith("dimensioner-"), `${type} has the prefix of the package`);
    const inHtml = [...page.matchAll(/registerType\(\s*["']([^"']+)["']/g)].map(
      ([, literal]) => literal ?? "",
    );
    rule("N01", inHtml.includes(type), `${String(file)} registers ${type} under a literal name`);
    registered.push(...inHtml);
    // As the flow library shows a node: found by these words in the page, not by running it.
    const [, color = ""] = /\bcolor\s*:\s*["'](#[0-9a-f]{6})["']/i.exec(page) ?? [];
    rule("H01", color !== "", `${String(file)} has a literal colour`);
    const [, icon = ""] = /\bicon\s*:\s*["']([^"']+)["']/.exec(page) ?? [];
    rule(
      "H02",
      icons.includes(icon) || icon.startsWith("font-awesome/"),
      `${type} has an icon that is there`,
    );
    rule("H03", page.includes(`data-template-name="${type}"`), `${String(file)} has a form for ${type}`);
    const isConfig = /category\s*:\s*["']config["']/.test(page);
    rule("N02", isConfig || used.has(type), `${type} is in one of the examples`);
  }
  rule("N01", new Set(registered).size === registered.length, "each type is registered once");
  return problems;
}

/** Reads a package as it lies in a folder, built or installed. */
export async function readPackage(root: string): Promise<Package> {
  const manifest = asRecord(parse(await readFile(join(root, "package.json"), "utf8")));
  const nodes = Object.values(asRecord(asRecord(manifest["node-red"])["nodes"])).map(String);
  const html = nodes.map(async (file) => {
    const text = await readFile(join(root, file.replace(/\.js$/, ".html")), "utf8").catch(() => "");
    return [file, text] as const;
  });
  const icons = nodes.map((file) => readdir(join(root, dirname(file), "icons")).catch(() => []));
  const names = (await readdir(join(root, "examples"))).filter((name) => name.endsWith(".json"));
  const examples = names.map(
    async (name) => [name, await readFile(join(root, "examples", name), "utf8")] as const,
  );
  return {
    manifest,
    files: await readdir(root),
    html: new Map(await Promise.all(html)),
    icons: (await Promise.all(icons)).flat(),
    examples: new Map(await Promise.all(examples)),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
