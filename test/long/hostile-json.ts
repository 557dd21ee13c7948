/** Many more deep, wide and huge values than `npm test` sends:  npm run test:long -- hostile-json */
import { throwHostileValues } from "../attacks/hostile-rounds.ts";

const seed = Math.floor(Math.random() * 2 ** 31);
for (const major of [4, 5] as const) {
  console.log(`Node-RED ${major}, seed ${seed}`);
  await throwHostileValues(major, 300, seed);
}
