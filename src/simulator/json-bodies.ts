import { bytesBody, joinedBody, type Body } from "./content.ts";

const mediaItem = {
  contentId: "00000000-0000-4000-8000-000000000000",
  contentType: "image/jpeg",
  description: "ColorImageJpeg",
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !JSON.isRawJSON(value);
}

/** The object that holds the last part of a path, and that part. */
function holderOf(root: unknown, path: string): { holder: Record<string, unknown>; key: string } | null {
  const keys = path.split(".");
  const key = keys.pop() ?? "";
  let holder = root;
  // Properties that every object inherits are not part of the response: setting `__proto__.x` would change all objects.
  for (const part of keys) {
    holder = isObject(holder) && Object.hasOwn(holder, part) ? holder[part] : null;
  }
  return isObject(holder) ? { holder, key } : null;
}

function keepNumberText(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" ? JSON.rawJSON(context?.source ?? String(value)) : value;
}

/** A JSON body with fields set and removed; numbers that stay keep their exact text. */
export function patchedJson(
  body: Body,
  patch: { readonly set?: Readonly<Record<string, unknown>>; readonly remove?: readonly string[] },
): Body {
  const root: unknown = JSON.parse(Buffer.concat([...body.read(0, body.size)]).toString(), keepNumberText);
  for (const path of patch.remove ?? []) {
    const found = holderOf(root, path);
    if (found !== null) {
      delete found.holder[found.key];
    }
  }
  for (const [path, value] of Object.entries(patch.set ?? {})) {
    const found = holderOf(root, path);
    if (found !== null) {
      found.holder[found.key] = value;
    }
  }
  return bytesBody(Buffer.from(JSON.stringify(root)));
}

/** One unit, `times` times, as bytes of which any part can be read. */
function repeated(unit: Buffer, times: number): Body {
  const perBlock = Math.max(1, Math.floor((256 * 1024) / unit.length));
  const block = Buffer.concat(Array.from({ length: Math.min(perBlock, times) }, () => unit));
  return {
    size: unit.length * times,
    *read(start, end) {
      for (let at = start; at < end;) {
        const offset = at % block.length;
        const take = Math.min(block.length - offset, end - at);
        yield block.subarray(offset, offset + take);
        at += take;
      }
    },
  };
}

/** A JSON array of so many equal items, or of at least so many bytes; never in memory as a whole. */
export function repeatedJson(wanted: {
  readonly jsonItems?: number;
  readonly jsonBytes?: number;
  readonly item?: unknown;
}): Body {
  const item = JSON.stringify(wanted.item ?? mediaItem);
  const unit = Buffer.from(`${item},`);
  const items = wanted.jsonItems ?? Math.max(1, Math.ceil(((wanted.jsonBytes ?? 0) - 1) / unit.length));
  if (items === 0) {
    return bytesBody(Buffer.from("[]"));
  }
  const [open, last] = [bytesBody(Buffer.from("[")), bytesBody(Buffer.from(`${item}]`))];
  return joinedBody([open, repeated(unit, items - 1), last]);
}
