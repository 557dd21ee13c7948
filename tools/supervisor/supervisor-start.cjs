// After each start, the table and the charts get everything once.
context.set("sent", {});
