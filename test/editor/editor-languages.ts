/** The languages of Node-RED's own editor, as Node-RED looks for their catalogs: es-ES in es, but zh-TW in its own. */
export const editorLanguages: readonly string[] = [
  "de",
  "en-US",
  "es",
  "fr",
  "ja",
  "ko",
  "pt",
  "ru",
  "zh",
  "zh-TW",
];
