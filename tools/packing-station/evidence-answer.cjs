// Answers with the list of the files of a package in the history (output 1), or with the path of one of them (output 2).
// Both are found by their place in what the archive node has reported; nothing in the request becomes part of a path. What
// comes from a browser cannot pass for such a report: see “From the page”, and “proof” in “Station”.
const texts = flow.get("texts");
const t = texts[env.get("LANGUAGE")] ?? texts.en;
const all = Object.values(flow.get("stations") ?? {}).flatMap(({ history }) => history);
const { id, file } = msg.req.params;
const asked = (one) => one.id === id && one.files.length > 0;
const parcel = all.find(({ packages }) => packages.some(asked));
const found = parcel?.packages.find(asked);
const chosen = file === undefined ? undefined : found?.files[Number(file)];
const policy =
  "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox allow-downloads";
msg.headers = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": policy,
  "Cache-Control": "private",
};
if (chosen !== undefined) {
  msg.filename = chosen.path;
  msg.headers["Content-Type"] = chosen.contentType;
  return [null, msg];
}
if (found === undefined || file !== undefined) {
  msg.statusCode = 404;
  msg.payload = t.noEvidence;
  msg.headers["Content-Type"] = "text/plain; charset=utf-8";
  return [msg, null];
}
const safe = (text) => String(text ?? "").replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
const shown = ({ contentType }, url) => {
  if (contentType.startsWith("image/")) {
    return `<img src="${url}" alt="">`;
  }
  return contentType.startsWith("video/") ? `<video src="${url}" controls></video>` : "";
};
const rows = found.files.map((one, index) => {
  const url = `${id}/${index}`;
  return `<li><a href="${url}">${safe(one.path.split(/[\\/]/).pop())}</a> ${safe(one.bytes)} B<br><small>SHA-256 ${safe(one.sha256)}</small><br>${shown(one, url)}</li>`;
});
msg.headers["Content-Type"] = "text/html; charset=utf-8";
msg.payload = `<!doctype html><html lang="${safe(env.get("LANGUAGE"))}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${safe(parcel.reference)}</title><style>:root{color-scheme:light dark}body{font:1rem system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}
img,video{max-width:100%;max-height:24rem}li{margin:1rem 0}small{overflow-wrap:anywhere}</style>
<h1>${safe(parcel.reference)}</h1><p>${safe(found.summary)}</p><p>${safe(found.location)}</p><ul>${rows.join("")}</ul></html>`;
return [msg, null];
