// Whoever can open the page can make a browser send anything. What the page has to say is put into a new message, and
// nothing else is let through: a scan to output 1, the rest to output 2.
const isText = (value) => typeof value === "string" && value.length <= 4096;
const { topic, station, input, at, payload } = msg;
const { socketId } = msg._client ?? {};
if (!isText(socketId)) {
  return null;
}
const sent = { topic, station: isText(station) ? station : null, _client: { socketId } };
if (topic === "hello") {
  const { version, boot, reference, isMade } = payload ?? {};
  sent.payload = {
    version: Number.isInteger(version) ? version : undefined,
    boot: isText(boot) ? boot : undefined,
    reference: isText(reference) ? reference : undefined,
    isMade: isMade === true,
  };
  return [null, sent];
}
if ((topic !== "scan" && topic !== "button") || !isText(input) || !Number.isFinite(at) || !isText(payload)) {
  return null;
}
Object.assign(sent, { input, at, payload });
return topic === "scan" ? [sent, null] : [null, sent];
