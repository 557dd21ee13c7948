// Whoever can open the page can make a browser send anything: only an acknowledgement is let through, in a new message.
const isText = (value) => typeof value === "string" && value.length <= 4096;
const { id, name } = msg.payload ?? {};
return msg.topic === "acknowledge" && isText(id) && isText(name)
  ? { topic: "acknowledge", payload: { id, name } }
  : null;
