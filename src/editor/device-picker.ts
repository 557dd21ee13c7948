import { callAdmin, isRecord, sentenceOf } from "./admin.ts";
import { button as makeButton, type Form } from "./form.ts";
import { ago, shared } from "./texts.ts";

interface ListedDevice {
  readonly code: string;
  readonly name: string;
  /** What records and lists of the cloud call it. */
  readonly id: string;
  /** Name, code and last heartbeat in one line of text. */
  readonly line: string;
}

/** How many lines a browser shows without a noticeable delay. */
const mostShown = 500;

/** The properties that a picker reads and fills in. */
interface Picked {
  /** A typed value: the code of the device. */
  readonly code: string;
  /** What the cloud calls the device with this code; blank as soon as another code is typed. */
  readonly name: string;
  readonly cloud: string;
}

/**
 * Adds the button that lists the devices of the chosen cloud, once it is deployed. Choosing a device fills its code
 * into the field.
 */
export function devicePicker(form: Form, { code, name, cloud }: Picked): void {
  let picked: string | undefined;
  const picker = pickerBeside(form, code, {
    clouds: () => [form.value(cloud)].filter((id) => id !== ""),
    choose(device) {
      form.field(code).typedInput("type", "str");
      form.field(code).typedInput("value", device.code);
      form.field(name).val(device.name);
      picked = device.code;
    },
  });
  // A name does not stay with another code.
  form.follow([code, `${code}Type`], () => {
    picked ??= form.value(code);
    if (form.value(code) !== picked || form.value(`${code}Type`) !== "str") {
      form.field(name).val("");
    }
  });
  form.follow([cloud], () => picker.close());
}

/**
 * Adds the button that lists the devices of all clouds to the field with what clouds call a device. Choosing one adds its code and its ID to
 * what is there, and its name where the device has none.
 */
export function cloudIdsPicker(
  form: Form,
  { ids, name, clouds }: { readonly ids: string; readonly name: string } & Pick<PickerOptions, "clouds">,
): void {
  let before = { ids: "", name: "" };
  pickerBeside(form, ids, {
    clouds,
    begin() {
      before = { ids: form.value(ids), name: form.value(name) };
    },
    choose({ code, id, name: called }) {
      const given = before.ids.split(/[,\s]+/).filter((one) => one !== "");
      const known = new Set(given.map((one) => one.toLowerCase()));
      const added = [code, id].filter((one) => !known.has(one.toLowerCase()));
      form
        .field(ids)
        .val([...given, ...added].join(", "))
        .trigger("change");
      form
        .field(name)
        .val(before.name || called)
        .trigger("change");
    },
  });
}

interface PickerOptions {
  /** The clouds whose devices are offered. */
  readonly clouds: () => readonly string[];
  /** Called when the list is opened: people go through its lines, and each is chosen until the next one is. */
  readonly begin?: () => void;
  readonly choose: (device: ListedDevice) => void;
}

function pickerBeside(
  form: Form,
  property: string,
  { clouds, begin, choose: take }: PickerOptions,
): { readonly close: () => void } {
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
  /** What is wrong with the clouds that have given no list. */
  let trouble: string[] = [];
  let running: readonly JQueryXHR[] = [];

  const close = () => {
    running.forEach((request) => request.abort());
    running = [];
    panel.hide();
    button.attr("aria-expanded", "false");
  };
  const render = () => {
    const wanted = String(filter.val()).trim().toLowerCase();
    const matching = devices.filter(({ line }) => line.toLowerCase().includes(wanted));
    const shown = matching.slice(0, mostShown);
    list.empty().append(...shown.map(({ id, line }) => $("<option>", { value: id, title: line }).text(line)));
    // No line is selected at first: the first one would look chosen without being so.
    list.prop("selectedIndex", -1);
    const text = shared("picker.shown", { shown: shown.length, count: devices.length });
    status.text([...(list.is(":visible") ? [text] : []), ...trouble].join(". "));
  };
  const open = async () => {
    const ids = clouds();
    begin?.();
    devices = [];
    trouble = [];
    filter.val("").hide();
    list.empty().hide();
    status.text(shared("test.busy"));
    panel.show();
    button.attr("aria-expanded", "true");
    if (ids.length === 0) {
      status.text(shared("test.notDeployed"));
      return;
    }
    const calls = ids.map((id) => callAdmin("GET", `dimensioner-cloud/${encodeURIComponent(id)}/devices`));
    const own = calls.map(({ request }) => request);
    running = own;
    // Each list is shown as it comes: a cloud that does not answer hides the devices of no other one.
    const show = async (answer: Promise<unknown>): Promise<void> => {
      const said = await answer;
      if (running !== own) {
        return;
      }
      const listed = isRecord(said) ? said["devices"] : undefined;
      if (!Array.isArray(listed)) {
        trouble.push(sentenceOf(said));
      } else if (devices.length === 0) {
        filter.show().trigger("focus");
        list.show();
      }
      devices = [...devices, ...(Array.isArray(listed) ? listed.filter(isRecord).map(listedDevice) : [])];
      render();
    };
    await Promise.all(calls.map(({ answer }) => show(answer)));
  };
  const choose = () => {
    const device = devices.find(({ id }) => id === list.val());
    if (device !== undefined) {
      take(device);
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
  return { close };
}

function listedDevice(device: Readonly<Record<string, unknown>>): ListedDevice {
  const { id, name, registrationCode, lastHeartbeatUtc } = device;
  const code = String(registrationCode);
  const heartbeat = typeof lastHeartbeatUtc === "string" ? ago(lastHeartbeatUtc) : undefined;
  const parts = [name, code, heartbeat ?? shared("picker.silent")];
  return {
    code,
    id: String(id),
    name: typeof name === "string" ? name : "",
    line: parts.filter((part) => typeof part === "string" && part !== "").join(" · "),
  };
}
