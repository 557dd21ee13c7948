// Asks each cloud that STATIONS names once.
const names = Object.values(env.get("STATIONS")).map(({ cloud }) => cloud);
return [[...new Set(names)].filter((cloud) => cloud).map((cloud) => ({ topic: "cloud", cloud }))];
