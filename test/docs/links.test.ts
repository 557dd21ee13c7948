import assert from "node:assert/strict";
import { existsSync, globSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { readPage } from "./markdown.ts";
import { readPages, root } from "./pages.ts";

const pages = readPages();
const repositoryUrl = "https://github.com/dimflow/node-red-dimensioner";

/** What is wrong with a link; undefined for one that leads somewhere. Nothing is asked of the internet. */
function linkProblem(from: string, target: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) {
    return outsideProblem(target);
  }
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? from : relative(root, join(root, dirname(from), decodeURIComponent(path)));
  if (file.startsWith("..")) {
    return "leads out of the repository";
  }
  return fileProblem(file, anchor);
}

function outsideProblem(target: string): string | undefined {
  if (target.startsWith("mailto:")) {
    return undefined;
  }
  const { protocol, hostname, pathname, hash } = new URL(target);
  const isHere = ["localhost", "127.0.0.1"].includes(hostname);
  if (protocol !== "https:" && !(protocol === "http:" && isHere)) {
    return "is not https";
  }
  // What is a file of this repository has to be one.
  const [, file] = new RegExp(`^${new URL(repositoryUrl).pathname}/blob/main/(.*)$`).exec(pathname) ?? [];
  return file === undefined || hostname !== "github.com" ? undefined : fileProblem(file, hash.slice(1));
}

function fileProblem(file: string, anchor: string | undefined): string | undefined {
  if (!existsSync(join(root, file))) {
    return `there is no ${file}`;
  }
  if (anchor === undefined || anchor === "") {
    return undefined;
  }
  const page = pages.find(({ path }) => path === file);
  return page?.anchors.has(anchor) === true ? undefined : `${file} has no heading for #${anchor}`;
}

describe("the links of the pages", () => {
  it("are found", () => {
    const count = pages.reduce((sum, { links }) => sum + links.length, 0);
    assert.ok(pages.length >= 12 && count > 80, `${count} links on ${pages.length} pages`);
    const page = readPage(
      '# A & b\n\n[a](x.md#y) `[b](z)`\n\n```\n[c](w)\n```\n\n# A & b\n<img src="i.png">',
    );
    assert.deepEqual(
      page.links.map(({ target, line }) => [target, line]),
      [
        ["x.md#y", 3],
        ["i.png", 10],
      ],
    );
    assert.deepEqual([...page.anchors], ["a--b", "a--b-1"]);
  });

  for (const { path, links } of pages) {
    it(`${path}: lead somewhere`, () => {
      const problems = links.flatMap(({ target, line }) => {
        const problem = linkProblem(path, target);
        return problem === undefined ? [] : [`line ${line}: ${target} ${problem}`];
      });
      assert.deepEqual(problems, []);
    });
  }

  it("would be missed if they led nowhere", () => {
    for (const wrong of ["docs/none.md", "README.md#nothing", "../other", "http://example.com", "#nothing"]) {
      assert.notEqual(linkProblem("README.md", wrong), undefined, wrong);
    }
    assert.notEqual(linkProblem("README.md", `${repositoryUrl}/blob/main/docs/none.md`), undefined);
    for (const right of ["docs/errors.md#err_input", "test/nodes", "#install", "https://example.com/x"]) {
      assert.equal(linkProblem("README.md", right), undefined, right);
    }
  });

  it("have sources beside them: each source that a page names is there", () => {
    const sources = globSync("{bench,nodes,src,test,tools}/**/*.ts", { cwd: root });
    const present = new Set([...sources, ...sources.map((path) => basename(path))]);
    const named = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, source = ""]) => ({ path, source })),
    );
    assert.ok(named.length > 50, `${named.length} sources`);
    const gone = named.filter(
      ({ source }) => !present.has(source) && !sources.some((path) => path.endsWith(`/${source}`)),
    );
    assert.deepEqual(gone, []);
  });

  it("of the pages that are in the package lead to nothing but pages, pictures and tests", () => {
    const packed = pages.filter(({ path }) => path === "README.md" || path.startsWith("docs/"));
    const local = packed.flatMap(({ links }) => links.filter(({ target }) => !/^([a-z]+:|#)/.test(target)));
    const odd = local.filter(
      ({ target }) => !/(\.(md|json|png|svg|webp)(#.*)?|LICENSE|test\/[\w/.-]+)$/.test(target),
    );
    assert.deepEqual(odd, []);
  });
});
