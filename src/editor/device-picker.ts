import { callAdmin, isRecord, sentenceOf } from "./admin.ts";
import { button as makeButton, type Form } from "./form.ts";
import { ago, shared } from "./texts.ts";

interface ListedDevice {
  readonly code: string;
  /** Name, code and last heartbeat in one line of text. */
  readonly line: string;
}

/** How many lines a browser shows without a noticeable delay. */
const mostShown = 500;

/**
 * Adds the button that lists the devices of the chosen cloud, once it is deployed. Choosing a device fills its code
 * into the field.
 */
export function devicePicker(form: Form, property: string, cloud: string): void {
  const cell = form.field(property).closest(".dimensioner-field");
  const button = makeButton("list", shared("picker.open"))
    .addClass("dimensioner-pick")
    .attr("aria-expanded", "false")
    .appendTo(cell);
  const status = $("<div>", { class: "dimensioner-note", role: "status" });
  const filter = $("<input>", { type: "text" }).attr({
    placeholder: shared("picker.filter"),
    "aria-label": shared("picker.filter"),
    autocomplete: "off",
  });
  const list = $("<select>").attr({ size: 6, "aria-label": shared("picker.open") });
  const panel = $("<div>", { class: "dimensioner-picker" })
    .append(filter, list, status)
    .insertAfter(button)
    .hide();
  let devices: readonly ListedDevice[] = [];
  let running: JQueryXHR | undefined;

  const close = () => {
    running?.abort();
    running = undefined;
    panel.hide();
    button.attr("aria-expanded", "false");
  };
  const render = () => {
    const wanted = String(filter.val()).trim().toLowerCase();
    const matching = devices.filter(({ line }) => line.toLowerCase().includes(wanted));
    const shown = matching.slice(0, mostShown);
    list
      .empty()
      .append(...shown.map(({ code, line }) => $("<option>", { value: code, title: line }).text(line)));
    // No line is selected at first: the first one would look chosen without being so.
    list.prop("selectedIndex", -1);
    status.text(shared("picker.shown", { shown: shown.length, count: devices.length }));
  };
  const open = async () => {
    const id = form.value(cloud);
    devices = [];
    filter.val("").hide();
    list.empty().hide();
    status.text(shared("test.busy"));
    panel.show();
    button.attr("aria-expanded", "true");
    if (id === "") {
      status.text(shared("test.notDeployed"));
      return;
    }
    const { request, answer } = callAdmin("GET", `dimensioner-cloud/${encodeURIComponent(id)}/devices`);
    running = request;
    const said = await answer;
    if (running !== request) {
      return;
    }
    running = undefined;
    const listed = isRecord(said) ? said["devices"] : undefined;
    if (!Array.isArray(listed)) {
      status.text(sentenceOf(said));
      return;
    }
    devices = listed.filter(isRecord).map(listedDevice);
    filter.show().trigger("focus");
    list.show();
    render();
  };
  const choose = () => {
    const code = list.val();
    if (typeof code === "string" && code !== "") {
      form.field(property).typedInput("type", "str");
      form.field(property).typedInput("value", code);
    }
  };

  button.on("click", () => {
    if (panel.is(":visible")) {
      close();
    } else {
      void open();
    }
  });
  filter.on("input", render);
  list.on("change", choose);
  list.on("click", () => {
    if (list.val() !== null) {
      choose();
      close();
    }
  });
  panel.on("keydown", (event) => {
    const isFilter = event.target === filter[0];
    if (event.key === "Escape") {
      close();
      button.trigger("focus");
    } else if (isFilter && event.key === "ArrowDown") {
      list.prop("selectedIndex", 0).trigger("focus").trigger("change");
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      if (isFilter) {
        list.prop("selectedIndex", 0);
      }
      choose();
      close();
      button.trigger("focus");
    } else {
      return;
    }
    // Otherwise the key would close the whole dialog.
    event.preventDefault();
    event.stopPropagation();
  });
  form.follow([cloud], close);
}

function listedDevice(device: Readonly<Record<string, unknown>>): ListedDevice {
  const { name, registrationCode, lastHeartbeatUtc } = device;
  const code = String(registrationCode);
  const heartbeat = typeof lastHeartbeatUtc === "string" ? ago(lastHeartbeatUtc) : undefined;
  const parts = [name, code, heartbeat ?? shared("picker.silent")];
  return { code, line: parts.filter((part) => typeof part === "string" && part !== "").join(" · ") };
}
