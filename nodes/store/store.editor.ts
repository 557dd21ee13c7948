import { connectionTest, storeFile } from "../../src/editor/admin.ts";
import { formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { labelStyle, textsOf } from "../../src/editor/texts.ts";
import { finishLogins, loginList } from "../../src/editor/login-list.ts";
import { defaults, properties, type StoreProperties } from "./store.shared.ts";

const type = "dimensioner-store";
const fields = formFields(type, properties);
const texts = textsOf(type);

/** What Test connection tests, and the store file names. */
const tested = [
  "files",
  "folder",
  "folderType",
  "bucket",
  "prefix",
  "endpoint",
  "region",
  "accessKeyId",
  "secretAccessKey",
  "pathStyle",
  "retainDays",
  "roots",
  "logo",
  "database",
  "host",
  "port",
  "databaseName",
  "user",
  "password",
  "tls",
  "poolSize",
];

RED.nodes.registerType<
  StoreProperties,
  { logins: string; user: string; password: string; accessKeyId: string; secretAccessKey: string }
>("dimensioner-store", {
  category: "config",
  color: "#86b6d8",
  icon: "dimensioner-store.svg",
  defaults: editorDefaults(fields),
  credentials: editorCredentials(fields),
  paletteLabel: () => texts("palette"),
  label() {
    const { name, files, folder, folderType, bucket, prefix } = settingsOf(this, defaults);
    const inBucket = bucket === "" ? "" : `s3://${[bucket, prefix].filter((part) => part !== "").join("/")}`;
    const inFolder = folderType === "env" && folder !== "" ? `\${${folder}}` : folder;
    return name || (files === "s3" ? inBucket : inFolder) || texts("palette");
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  oneditprepare() {
    const form = openForm(this, fields);
    loginList(form, texts);
    const row = connectionTest(this, form, {
      type,
      after: "tls",
      properties: tested,
      needed: [],
    });
    storeFile(this, form, { after: row, texts, properties: tested });
  },
  oneditsave() {
    finishLogins(this);
  },
  // Node-RED calls it also when another dialog no longer lies over this one. Meanwhile the fields could not be checked.
  oneditresize() {
    $("#node-config-input-logins").trigger("change");
  },
});
