import { DimensionerError } from "../errors/dimensioner-error.ts";
import { type FieldName, field } from "../errors/interpolation.ts";
import { type Command, type Read, encodePart, shorten, writeQuery } from "../http/call.ts";
import { registrationCodeProblem } from "../rules/names.ts";

type Query = Readonly<Record<string, string | undefined>>;

/** The actions of a remote trigger (spec 4.1; `measure` from the cloud's further documentation). */
export type TriggerAction = "start" | "stop" | "cancel" | "measure";

const triggerNames: Readonly<Record<TriggerAction, string>> = {
  start: "startrecording",
  stop: "stoprecording",
  cancel: "cancelrecording",
  measure: "measure",
};

/** Builds the calls of the cloud's API. Every path is `basePath` followed by the path in the API. */
export class CloudCalls {
  readonly #basePath: string;

  constructor(basePath: string) {
    this.#basePath = basePath;
  }

  /**
   * Throws ERR_INPUT if the device reference cannot be a registration code (real ones have letters and digits), or if a
   * required transaction reference is missing.
   */
  trigger(action: TriggerAction, deviceReference: string, query: Query): Command {
    const operation = `remote ${action}`;
    const problem = registrationCodeProblem(deviceReference);
    if (problem !== null) {
      throw new DimensionerError(
        "inputValue",
        { surface: "cloud", operation, outcome: "not-sent" },
        {
          field: field("deviceReference"),
          value: shorten(deviceReference),
          problem,
        },
      );
    }
    if ("transactionReference" in query && (query["transactionReference"] ?? "") === "") {
      const facts = { surface: "cloud", operation, outcome: "not-sent" } as const;
      throw new DimensionerError("inputMissing", facts, { field: field("transactionReference") });
    }
    return {
      acts: true,
      operation,
      method: "GET",
      path: `${this.#basePath}/api/remotetrigger/${triggerNames[action]}`,
      query: writeQuery({ deviceReference, ...query }),
      statuses: { 400: "badDeviceReference", 401: "unauthorized", 504: "deviceTimeout" },
      values: { reference: deviceReference },
    };
  }

  mediaList(transactionId: string, contentType: string | undefined): Read {
    const id = readId("media list", "transactionId", transactionId);
    return this.#read("media list", `/api/transactionmedia/${id}`, { contentType });
  }

  media(transactionId: string, contentId: string): Read {
    const transaction = readId("media", "transactionId", transactionId);
    const content = readId("media", "contentId", contentId);
    return this.#read("media", `/api/transactionmedia/${transaction}/${content}`);
  }

  devices(): Read {
    return this.#read("device list", "/api/deviceclients");
  }

  device(id: string): Read {
    return this.#read("device", `/api/deviceClients/${readId("device", "id", id)}`);
  }

  terminals(): Read {
    return this.#read("terminal list", "/api/terminals");
  }

  terminal(id: string): Read {
    return this.#read("terminal", `/api/terminals/${readId("terminal", "id", id)}`);
  }

  #read(operation: string, path: string, query: Query = {}): Read {
    return {
      acts: false,
      operation,
      method: "GET",
      path: this.#basePath + path,
      query: writeQuery(query),
      statuses: { 401: "unauthorized" },
    };
  }
}

function readId(operation: string, name: FieldName, value: string): string {
  return encodePart("cloud", operation, name, value);
}
