import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "esbuild";

/** Data of others in the sources: where it is, and the file with its licence, from the root of the project. */
const data = [
  {
    name: "Facts from the GS1 Barcode Syntax Dictionary (https://github.com/gs1/gs1-syntax-dictionary)",
    change: "Turned into a table of identifiers, formats and titles.\nCopyright (c) GS1 AISBL\n\n",
    license: "LICENSES/Apache-2.0.txt",
  },
  {
    name: "Formats of tracking numbers from https://github.com/jkeen/tracking_number_data",
    change: "",
    license: "LICENSES/tracking_number_data.txt",
  },
] as const;

/** Collects which packages the bundles contain, so that the published package has their licences. */
export class ThirdParty {
  readonly #folders = new Set<string>();
  /** To be given to each build. */
  readonly plugin: Plugin = {
    name: "third party",
    setup: ({ initialOptions, onEnd }) => {
      initialOptions.metafile = true;
      onEnd(({ metafile }) => {
        for (const input of Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) =>
          Object.keys(inputs),
        )) {
          const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? [];
          if (folder !== undefined) {
            this.#folders.add(folder);
          }
        }
      });
    },
  };

  /** The licences of all that the package has from others. */
  notices(): string {
    const packages = [...this.#folders].sort().map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
        name: string;
        version: string;
      };
      return section(`${name} ${version}`, readFileSync(join(folder, licenseIn(folder)), "utf8"));
    });
    const others = data.map(({ name, change, license }) =>
      section(name, `${change}${readFileSync(license, "utf8")}`),
    );
    return `What this package contains of others, and under which licences.\n${[...packages, ...others].join("")}`;
  }
}

function licenseIn(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e(?:\.(?:md|txt))?$/i.test(name));
  if (file === undefined) {
    throw new Error(`${folder} is bundled and has no file with its licence.`);
  }
  return file;
}

function section(name: string, text: string): string {
  return `\n${"=".repeat(80)}\n${name}\n\n${text.trim()}\n`;
}
