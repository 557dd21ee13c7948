/** 120 deploys of every kind while records are posted as fast as they are taken, on both Node-REDs:  npm run test:long -- deploys */
import { deployUnderLoad } from "../attacks/deploy-rounds.ts";

for (const major of [4, 5] as const) {
  const { taken, perSecond, statuses } = await deployUnderLoad(major, 120, 20);
  console.log(
    `Node-RED ${major}: 120 deploys, ${taken} records at ${perSecond} a second, all came out once; ` +
      `answers: ${JSON.stringify(statuses)}`,
  );
}
