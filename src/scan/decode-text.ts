/**
 * The text of bytes that a scanner sent: UTF-8 where they are that, else Latin-1, in which each byte is a character. Codes of
 * GS1 and of carriers are ASCII, which is the same in both.
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}
