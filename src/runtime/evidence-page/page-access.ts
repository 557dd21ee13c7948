import type { NodeAPI } from "node-red";
import type { AccessRules } from "../../access/gate.ts";
import { readLogins } from "../../access/logins.ts";
import { phrase } from "../../errors/interpolation.ts";
import { readIpAddresses } from "../../rules/addresses.ts";
import { headerNameProblem } from "../../rules/names.ts";
import { SettingsReader } from "../config/settings.ts";

/** The settings of a store that say who may see its evidence page. */
export interface AccessSettings {
  readonly login: "logins" | "nodeRed" | "proxy";
  readonly header: string;
  readonly proxyAddresses: string;
  readonly managers: string;
}

const settings = new SettingsReader("store");

/** Reads who may see the page. Throws ERR_CONFIG if nobody can be recognized: the page is then not served at all. */
export function readAccess(RED: NodeAPI, given: AccessSettings, savedLogins: string): AccessRules {
  const managers = given.managers
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  switch (given.login) {
    case "logins": {
      const logins = readLogins(savedLogins);
      if (logins === undefined) {
        throw settings.invalid("logins", phrase("loginsForm"));
      }
      if (logins.length === 0) {
        throw settings.invalid("logins", phrase("noLogins"));
      }
      return { by: "logins", logins };
    }
    case "nodeRed": {
      const user = nodeRedUser(RED);
      if (user === undefined) {
        throw settings.invalid("login", phrase("noNodeRedLogin"));
      }
      return { by: "nodeRed", user, managers };
    }
    case "proxy": {
      const header = given.header.trim().toLowerCase();
      const problem = header === "" ? phrase("empty") : headerNameProblem(header);
      if (problem !== null) {
        throw settings.invalid("header", problem);
      }
      const read = readIpAddresses(given.proxyAddresses);
      if ("problem" in read) {
        throw settings.invalid("proxyAddresses", read.problem);
      }
      return { by: "proxy", header, addresses: read.addresses, managers };
    }
  }
}

/** The user of the login that Node-RED requires for all paths of flows. */
function nodeRedUser(RED: NodeAPI): string | undefined {
  const login: unknown = Reflect.get(RED.settings, "httpNodeAuth");
  const user: unknown = typeof login === "object" && login !== null ? Reflect.get(login, "user") : undefined;
  return typeof user === "string" && user !== "" ? user : undefined;
}
