/**
 * The languages of this package, named as Node-RED looks for catalogs: that of `es` is also the one of es-ES and es-MX. That of zh is in
 * simplified characters.
 */
export const languages = ["de", "en-US", "es", "fr", "ja", "ko", "pt", "ru", "zh", "zh-TW"] as const;

export type Language = (typeof languages)[number];
