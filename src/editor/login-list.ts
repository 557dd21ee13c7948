import { callAdmin, isRecord } from "./admin.ts";
import { longestNameLength, longestPasswordLength, shortestPasswordLength } from "../rules/logins.ts";
import { problem } from "../rules/problem.ts";
import { unfinishedOf } from "./fields.ts";
import { button, type Form } from "./form.ts";
import { sayProblem, shared, type Texts } from "./texts.ts";

/** A login as it is saved: its password only as a hash, which the server has made. */
interface Login {
  readonly name: string;
  readonly right: string;
  readonly hash: string;
}

const rights = ["read", "manage"];

/** Lists the logins of the evidence page, and adds and removes them. The field keeps them as JSON. */
export function loginList(form: Form, texts: Texts): void {
  const saved = form.field("logins");
  const place = saved.siblings(".dimensioner-list").addClass("dimensioner-logins");
  const list = $("<ul>").appendTo(place);
  const name = input("text", texts("login.name")).attr("maxlength", longestNameLength);
  // It has no maxlength: nobody would see that a password was cut off.
  const password = input("password", texts("login.password")).attr("autocomplete", "new-password");
  const right = $("<select>", { "aria-label": texts("login.right") }).append(
    ...rights.map((one) => $("<option>", { value: one }).text(texts(`right.${one}`))),
  );
  const add = button("plus", texts("login.add")).addClass("dimensioner-add-login");
  const note = $("<div>", { class: "dimensioner-note", role: "status" }).text(
    texts(readSaved(saved) === undefined ? "login.unreadable" : "note.logins"),
  );
  const unfinished = $("<input>", { type: "hidden", id: unfinishedOf(saved.attr("id") ?? "") });
  place.append(
    $("<div>", { class: "dimensioner-new-login" }).append(name, password, right, add),
    note,
    unfinished,
  );

  /** Those whose response is awaited. */
  const awaited = new Set<Pick<Login, "name">>();
  /** What gets them once the dialog is confirmed. */
  let confirmed: object | undefined;
  const noteUnfinished = () => {
    const isAwaited = awaited.size > 0 && confirmed === undefined;
    const isUnfinished = isAwaited || textOf(name) + textOf(password) !== "";
    unfinished.val(isUnfinished ? "yes" : "");
  };
  const show = () => {
    list.empty().append(...read(saved).map((login) => row(login)));
  };
  const save = (logins: readonly Login[]) => {
    saved.val(logins.length === 0 ? "" : JSON.stringify(logins)).trigger("change");
    show();
  };
  const row = (login: Login) => {
    const remove = button("remove", texts("login.remove"))
      .attr("aria-label", texts("login.removeName", { name: login.name }))
      .on("click", () => {
        save(read(saved).filter((one) => one.name !== login.name));
        name.trigger("focus");
      });
    const about = $("<span>").text(`${login.name} (${texts(`right.${login.right}`)})`);
    return $("<li>").append(about, " ", remove);
  };

  const addLogin = async (wanted: Omit<Login, "hash"> & { readonly password: string }) => {
    note.text(texts("login.adding"));
    awaited.add(wanted);
    noteUnfinished();
    const { answer } = callAdmin("POST", "dimensioner-store/login", { password: wanted.password });
    const said = await answer;
    awaited.delete(wanted);
    noteUnfinished();
    const hash = isRecord(said) ? said["hash"] : undefined;
    const login = typeof hash === "string" ? { name: wanted.name, right: wanted.right, hash } : undefined;
    if (confirmed !== undefined) {
      finishWith(confirmed, wanted.name, login);
      return;
    }
    if (login === undefined) {
      note.text(texts("login.failed"));
      return;
    }
    // Somebody may have typed the next one meanwhile.
    if (textOf(name).trim() === wanted.name && textOf(password) === wanted.password) {
      name.val("");
      password.val("");
      noteUnfinished();
    }
    // Nobody waits for the response; the same login may have been added meanwhile.
    const others = read(saved).filter((one) => !isSame(one, wanted));
    save([...others, login]);
    note.text(texts("login.added", { name: wanted.name }));
  };
  const finishWith = (node: object, added: string, login: Login | undefined) => {
    if (login === undefined) {
      RED.notify(shared("problem.labelled", { label: added, problem: texts("login.failed") }), "error");
      return;
    }
    addTo(node, login);
    RED.notify(texts("login.addedLast", { name: added }), "success");
  };
  const typed = () => ({ name: textOf(name).trim(), right: textOf(right), password: textOf(password) });
  /** What is wrong with what is typed; undefined if it can be added. */
  const problemOf = (wanted: ReturnType<typeof typed>): string | undefined => {
    if (wanted.name === "") {
      return texts("login.nameMissing");
    }
    if (wanted.password.length < shortestPasswordLength) {
      return texts("login.tooShort", { count: shortestPasswordLength });
    }
    if (wanted.password.length > longestPasswordLength) {
      const tooLong = sayProblem(problem("tooLong", { most: longestPasswordLength }));
      return shared("problem.labelled", { label: texts("login.password"), problem: tooLong });
    }
    return read(saved).some((one) => isSame(one, wanted)) ? texts("login.nameTaken") : undefined;
  };
  add.on("click", () => {
    const wanted = typed();
    const wrong = problemOf(wanted);
    if (wrong === undefined) {
      void addLogin(wanted);
    } else {
      note.text(wrong);
    }
  });
  name
    .add(password)
    .on("input", noteUnfinished)
    // The sentence is said, or taken back, when somebody leaves the field.
    .on("change", () => saved.trigger("change"))
    .on("keydown", (event) => {
      if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        add.trigger("click");
      }
    });
  show();
  saved.on(confirmEvent, (_event, node: object) => {
    const wanted = typed();
    confirmed = node;
    const isAwaited = [...awaited].some((one) => isSame(one, wanted));
    if (isAwaited || problemOf(wanted) === undefined) {
      if (!isAwaited) {
        void addLogin(wanted);
      }
      name.val("");
      password.val("");
    }
    // What is left is not complete, and the editor says so of the node.
    noteUnfinished();
  });
}

const confirmEvent = "dimensioner-confirm";

/** To be called when the dialog of a node is confirmed: a login that is typed and was not added yet is added to the node. */
export function finishLogins(node: object): void {
  $("#node-config-input-logins").trigger(confirmEvent, [node]);
}

/** Adds a login to a node whose dialog is closed; the next deploy stores it. */
function addTo(node: object, login: Login): void {
  const credentials: unknown = Reflect.get(node, "credentials");
  const known =
    isRecord(credentials) && typeof credentials["logins"] === "string" ? credentials["logins"] : "";
  const others = (readText(known) ?? []).filter((one) => !isSame(one, login));
  Object.assign(node, {
    credentials: {
      ...(isRecord(credentials) ? credentials : {}),
      logins: JSON.stringify([...others, login]),
    },
    changed: true,
  });
  RED.nodes.dirty(true);
}

function isSame(one: Pick<Login, "name">, other: Pick<Login, "name">): boolean {
  return one.name.toLowerCase() === other.name.toLowerCase();
}

function input(type: string, label: string): JQuery {
  return $("<input>", { type, "aria-label": label, placeholder: label });
}

function textOf(field: JQuery): string {
  const value = field.val();
  return typeof value === "string" ? value : "";
}

/** Reads the field itself: while another dialog lies over this one, the page has no field of its name. */
function read(field: JQuery): readonly Login[] {
  return readSaved(field) ?? [];
}

function readSaved(field: JQuery): readonly Login[] | undefined {
  return readText(textOf(field));
}

/** Undefined for what the runtime refuses as a whole, as after a flow file was edited by hand. */
function readText(text: string): readonly Login[] | undefined {
  if (text === "") {
    return [];
  }
  try {
    const saved: unknown = JSON.parse(text);
    return Array.isArray(saved) && saved.every(isLogin) ? saved : undefined;
  } catch {
    return undefined;
  }
}

function isLogin(value: unknown): value is Login {
  return isRecord(value) && ["name", "right", "hash"].every((key) => typeof value[key] === "string");
}
