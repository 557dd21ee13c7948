// Answers with a picture that is kept in memory. An ID names nothing else: no file, no address.
const pictures = flow.get("pictures") ?? {};
const { id } = msg.req.params;
if (!Object.hasOwn(pictures, id)) {
  msg.statusCode = 404;
  msg.payload = "";
  return msg;
}
const { bytes, contentType } = pictures[id];
msg.payload = Buffer.from(bytes);
msg.headers = {
  "Content-Type": contentType,
  "Cache-Control": "private, max-age=86400, immutable",
  "X-Content-Type-Options": "nosniff",
};
return msg;
