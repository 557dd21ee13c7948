import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { parse, type Expression, type Node, type ObjectExpression, type Property } from "acorn";
import { builtHtml, defaultsOf, names, root } from "./sources.ts";

/** Read from the page as the flow library and the scorecard read it: without running it. */
interface Definition {
  readonly type: unknown;
  readonly properties: ReadonlyMap<string, Expression>;
}

function definitionIn(html: string): Definition {
  const scripts = [...html.matchAll(/<script type="text\/javascript">([\s\S]*?)<\/script>/g)];
  const calls = scripts.flatMap(([, script = ""]) => {
    const found: { type: unknown; properties: Map<string, Expression> }[] = [];
    visit(parse(script, { ecmaVersion: "latest", sourceType: "script" }), (node) => {
      if (node.type !== "CallExpression") {
        return;
      }
      const { callee, arguments: given } = node as unknown as { callee: Node; arguments: Expression[] };
      const { property } = callee as unknown as { property?: { name?: string } };
      const [type, definition] = given;
      if (property?.name === "registerType" && type !== undefined && definition !== undefined) {
        assert.equal(type.type, "Literal");
        found.push({ type: valueOf(type), properties: membersOf(definition) });
      }
    });
    return found;
  });
  assert.equal(calls.length, 1, "one registerType");
  return calls[0] as Definition;
}

function visit(value: unknown, act: (node: Node) => void): void {
  if (Array.isArray(value)) {
    value.forEach((one) => visit(one, act));
  } else if (typeof value === "object" && value !== null) {
    if ("type" in value && "start" in value) {
      act(value as Node);
    }
    Object.values(value).forEach((inner) => visit(inner, act));
  }
}

function membersOf(node: Expression): Map<string, Expression> {
  assert.equal(node.type, "ObjectExpression", "inline");
  const members = (node as ObjectExpression).properties.map((member) => {
    assert.equal(member.type, "Property", "no spread: a static reader stumbles over it");
    const { key, value } = member as Property;
    assert.equal(key.type, "Identifier");
    return [(key as { name: string }).name, value] as const;
  });
  return new Map(members);
}

function valueOf(node: Expression | undefined): unknown {
  assert.equal(node?.type, "Literal");
  return (node as { value: unknown }).value;
}

describe("the html of each type, read without running it", () => {
  const seen = new Map<string, Definition>();

  before(async () => {
    for (const name of names) {
      seen.set(name, definitionIn(await builtHtml(name)));
    }
  });

  const definitionOf = (name: string): Definition => seen.get(name) as Definition;

  for (const name of names) {
    const isConfig = ["device", "cloud", "store"].includes(name);

    it(`${name} names its type, its looks and its saved properties literally`, async () => {
      const { type, properties } = definitionOf(name);
      assert.equal(type, `dimensioner-${name}`);
      assert.equal(valueOf(properties.get("category")), isConfig ? "config" : "dimensioner");
      assert.match(String(valueOf(properties.get("color"))), /^#[0-9a-f]{6}$/);
      const extra = ["evidence", "measure", "remote-trigger"].includes(name) ? ["outputs"] : [];
      const saved = [...membersOf(properties.get("defaults") as Expression).keys()];
      assert.deepEqual(saved.toSorted(), [...Object.keys(await defaultsOf(name)), ...extra].toSorted());
      if (!isConfig) {
        assert.match(String(valueOf(properties.get("inputs"))), /^[01]$/);
        assert.equal(valueOf(properties.get("outputs")), ["archive", "scan"].includes(name) ? 2 : 1);
      }
    });

    it(`${name} has a form, and a script that runs in a browser alone`, async () => {
      const html = await builtHtml(name);
      assert.match(html, new RegExp(`<script type="text/html" data-template-name="dimensioner-${name}">`));
      const [, script = ""] = /<script type="text\/javascript">([\s\S]*)<\/script>/.exec(html) ?? [];
      const wrong = ["process", "Buffer", "require", "global", "setImmediate", "__dirname", "module"];
      const used = new Set<string>();
      visit(parse(script, { ecmaVersion: 2020 }), (node) => {
        if (node.type === "Identifier") {
          used.add((node as unknown as { name: string }).name);
        }
      });
      assert.deepEqual(
        [...used].filter((word) => wrong.includes(word)),
        [],
      );
    });
  }

  it("the cloud's token is a credential", () => {
    const credentials = membersOf(definitionOf("cloud").properties.get("credentials") as Expression);
    assert.deepEqual([...credentials.keys()], ["token"]);
  });

  it("each type has an icon of its own, all of them beside one node", async () => {
    const icons = names.map((name) => valueOf(definitionOf(name).properties.get("icon")));
    assert.equal(new Set(icons).size, names.length);
    assert.deepEqual((await readdir(join(root, "dist/nodes/device/icons"))).toSorted(), icons.toSorted());
    for (const name of names) {
      const entries = await readdir(join(root, "dist/nodes", name));
      assert.equal(entries.includes("icons"), name === "device");
    }
  });
});
