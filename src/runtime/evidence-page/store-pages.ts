import type { NodeAPI } from "node-red";
import type { AccessRules } from "../../access/gate.ts";
import { FailedLogins, PasswordChecks, readLogins } from "../../access/logins.ts";
import { Sessions } from "../../access/sessions.ts";
import { type DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase } from "../../errors/interpolation.ts";
import { EvidencePage, type LoginMemory } from "../../evidence/page/evidence-page.ts";
import { readIpAddresses, readPageUrl } from "../../rules/addresses.ts";
import { headerNameProblem, readPath } from "../../rules/names.ts";
import type { Store } from "../../vault/store.ts";
import { deployed, openOrExplain } from "../config/config-choice.ts";
import { FlowsEvent, followFlows } from "../config/flows-event.ts";
import { SettingsReader } from "../config/settings.ts";
import { StoreHandle } from "../evidence/evidence-work.ts";
import { LogThrottle, translateError, translateStatus } from "../status/node-status.ts";
import { type PackageLinks, type StoreNode, filesOf } from "../store/store-choice.ts";
import { ServedPaths, checkPaths, ownerOf, sayPathProblem, servePath } from "../web/served-paths.ts";

interface PageSettings extends AccessSettings {
  /** Blank: no page. */
  readonly path: string;
  /** The address at which people open it; blank: not known. */
  readonly url: string;
}

interface ServedPage {
  readonly links: PackageLinks;
  /** Throws ERR_CONFIG. */
  readonly read: () => PageSettings;
}

/** The evidence pages of all stores. */
export class StorePages {
  readonly #RED: NodeAPI;
  readonly #started: FlowsEvent;
  readonly #stopping: FlowsEvent;
  /** By the id of the config node, so that a deploy ends no session and forgets no failed login. */
  readonly #memories = new Map<string, LoginMemory>();

  constructor(RED: NodeAPI) {
    this.#RED = RED;
    this.#started = new FlowsEvent(RED, "flows:started");
    this.#stopping = new FlowsEvent(RED, "flows:stopping");
  }

  /**
   * Serves the page of a store until its node is closed. The log says where, or why not; `links` leads to it as long as it
   * is served. Throws ERR_CONFIG.
   */
  serve(node: StoreNode, store: Store, { links, read }: ServedPage): void {
    const settings = read();
    if (settings.path.trim() === "") {
      return;
    }
    const given = openOrExplain(() => ({
      path: readPagePath(settings.path),
      url: readUrl(settings.url),
      rules: readAccess(this.#RED, settings, node.credentials?.logins ?? ""),
    }));
    if ("problem" in given) {
      this.#sayOff(node, this.#say(given.problem));
      return;
    }
    const handle = new StoreHandle(() => store);
    const throttle = new LogThrottle();
    const page = new EvidencePage({
      rules: given.rules,
      memory: this.#memoryOf(node.id),
      open: async (name) => {
        const operation = { operation: name, surface: "store", acts: false } as const;
        const vault = filesOf(store, operation);
        const connection = await handle.open();
        return {
          database: connection.database,
          log: connection.log,
          vault: await handle.openVault(vault),
          operation: name,
          databaseLocation: store.location,
          filesLocation: vault,
          timestampRoots: store.timestampRoots,
          heading: store.heading,
        };
      },
      openDatabase: async () => (await handle.open()).database,
      say: (error) => this.#say(error),
      onProblem: (error) => {
        const isKnown = isDimensionerError(error);
        if (throttle.isDue(isKnown ? error.code : "unknown")) {
          node.warn(isKnown ? this.#say(error) : String(error));
        }
      },
    });
    const path = { base: given.path, takesPart: false, takesAll: true } as const;
    const leave = servePath(this.#RED, {
      path,
      owner: ownerOf(node),
      handle: (request, response) => void page.handle(request, response, given.path),
      onServed: () => {
        const served = `/${this.#RED.settings.httpNodeRoot}/${given.path}/`.replaceAll(/\/{2,}/g, "/");
        links.begin(given.url ?? served);
        node.log(translateStatus(this.#RED, "evidencePage", { path: served }));
      },
      onProblem: (problem) => {
        links.end();
        this.#sayOff(node, sayPathProblem(this.#RED, problem, path).log);
      },
    });
    const forget = followFlows(
      { started: this.#started, stopping: this.#stopping },
      { onStarted: () => checkPaths(this.#RED), onStopping: () => undefined },
    );
    node.on("close", (done: () => void) => {
      forget();
      leave();
      links.end();
      page.close();
      this.#started.next(() => this.#settle());
      void handle.close().finally(done);
    });
  }

  #memoryOf(id: string): LoginMemory {
    const known = this.#memories.get(id);
    const memory = known ?? {
      sessions: new Sessions(),
      failed: new FailedLogins(),
      checks: new PasswordChecks(),
    };
    this.#memories.set(id, memory);
    return memory;
  }

  /** After a deploy: what belongs to no node any more is given up. */
  #settle(): void {
    ServedPaths.of(this.#RED.httpNode).settle();
    for (const id of this.#memories.keys()) {
      if (deployed(this.#RED, id) === null) {
        this.#memories.delete(id);
      }
    }
  }

  #sayOff(node: StoreNode, problem: string): void {
    node.warn(translateStatus(this.#RED, "evidencePageOff", { problem }));
  }

  #say(error: DimensionerError): string {
    return translateError(this.#RED, error).message;
  }
}

function readPagePath(given: string): string {
  const path = readPath(given);
  if ("problem" in path) {
    throw new SettingsReader("store").invalid("path", path.problem);
  }
  return path.base;
}

/** Undefined if it is blank. */
function readUrl(given: string): string | undefined {
  if (given.trim() === "") {
    return undefined;
  }
  const read = readPageUrl(given);
  if ("problem" in read) {
    throw new SettingsReader("store").invalid("url", read.problem);
  }
  return read.url;
}

/** The settings of a store that say who may see its evidence page. */
export interface AccessSettings {
  readonly login: "logins" | "nodeRed" | "proxy";
  readonly header: string;
  readonly proxyAddresses: string;
  readonly managers: string;
}

const settings = new SettingsReader("store");

/** Reads who may see the page. Throws ERR_CONFIG if nobody can be recognized: the page is then not served at all. */
function readAccess(RED: NodeAPI, given: AccessSettings, savedLogins: string): AccessRules {
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
