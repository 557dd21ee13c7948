/** The languages of this package, as Node-RED names them. */
export const languages = ["de", "en-US", "es-ES", "fr", "ja", "ko", "pt-BR", "ru", "zh-CN", "zh-TW"] as const;

export type Language = (typeof languages)[number];
