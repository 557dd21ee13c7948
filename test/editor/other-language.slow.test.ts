import assert from "node:assert/strict";
import { openEditor } from "../support/browser.ts";
import { startNodeRed } from "../support/node-red.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { fill, openConfigDialog } from "./dialog.ts";

describe("an editor of another language than its Node-RED", () => {
  it("says in its own language what the runtime finds wrong", async () => {
    const nodeRed = await startNodeRed({
      major: 4,
      settings: { lang: "de" },
      flows: [
        { id: "tab", type: "tab", label: "Dock" },
        { id: "device", type: "dimensioner-device", address: "127.0.0.1" },
      ],
    });
    try {
      const editor = await openEditor(await sharedBrowser(), nodeRed.url, { language: "ja" });
      const { page, problems } = editor;
      await openConfigDialog(page, "device");
      await fill(page, "address", "${NO_SUCH_DOCK}", "#node-config-input-");
      await page.locator(".dimensioner-test").click();
      const answer = page.locator('.dimensioner-answer[data-state="bad"]');
      await answer.waitFor();
      assert.equal(
        await answer.textContent(),
        "デバイスの設定「アドレス」が正しくありません: 環境変数NO_SUCH_DOCKが設定されていません。代わりに値を入力するか、変数を設定してNode-REDを再起動してください。修正してデプロイしてください。",
      );
      assert.deepEqual(problems, []);
      await editor.close();
    } finally {
      await nodeRed.stop();
    }
  });
});
