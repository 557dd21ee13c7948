/** The languages of Node-RED's own editor, as it names them; the nodes speak them all. */
export const editorLanguages: readonly string[] = [
  "de",
  "en-US",
  "es-ES",
  "fr",
  "ja",
  "ko",
  "pt-BR",
  "ru",
  "zh-CN",
  "zh-TW",
];
