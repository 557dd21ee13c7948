import { component } from "../../dashboard/component.ts";
import type { Texts } from "../texts.ts";
import type { NoticeKind, Phase, ScreenState, ShownParcel, ToScreen } from "../types.ts";
import type { Kept, Pending } from "./kept.ts";

interface LocalNotice {
  readonly kind: NoticeKind;
  readonly text: string;
  readonly reason: string;
}

interface Data {
  /** As the address of the page names it; null if it names none. */
  station: string | null;
  base: string;
  state: ScreenState | null;
  t: Texts;
  typed: string;
  pending: Pending[];
  /** The stations that there are, if the address names none of them. */
  unknownStation: readonly string[] | null;
  connected: boolean;
  /** What the page itself has to say. */
  localNotice: LocalNotice | null;
  /** The ID of what Node-RED has not confirmed in time. */
  givenUp: string;
  flash: NoticeKind | "";
  clock: number;
  /** How far the clock of Node-RED is ahead of that of the browser, in ms. */
  offset: number;
  listeners: Record<string, (message: never) => void>;
  clocks: number[];
}

export default component({
  data(): Data {
    // Dashboard makes this component anew after each deploy. What is being typed or sent must not get lost with it. There are no
    // texts until the first state brings them, and nothing is shown before.
    const kept: Kept = (window.packingStation ??= {
      typed: "",
      keyAt: 0,
      pending: [],
      state: null,
      texts: {} as Texts,
      heard: "",
      station: null,
      screen: null,
      page: "",
      keys: null,
      sound: null,
    });
    // Dashboard forgets the rest of the address when somebody comes back from another page of it.
    kept.station = new URLSearchParams(location.search).get("station") ?? kept.station;
    return {
      station: kept.station,
      // Where the flow answers with pictures: beside the first part of this page's path, which is that of Dashboard.
      base: location.pathname.replace(/\/[^/]+\/[^/]+\/?$/, "") + "/station/",
      state: kept.state,
      t: kept.texts,
      typed: kept.typed,
      pending: kept.pending,
      unknownStation: null,
      connected: true,
      localNotice: null,
      givenUp: "",
      flash: "",
      clock: Date.now(),
      offset: 0,
      listeners: {},
      clocks: [],
    };
  },
  computed: {
    // The parcel.
    referenceText(): string {
      const { parcel, asked } = this.state ?? {};
      if (asked) {
        return asked.reference;
      }
      if (!parcel) {
        return this.t.nothingYet;
      }
      return this.phase === "idle" ? this.named(this.t.lastParcel, parcel) : parcel.reference;
    },
    phase(): Phase {
      return this.state?.phase ?? "idle";
    },
    recordingFor(): string {
      const since = this.state?.since ?? 0;
      const seconds = Math.max(0, Math.floor((this.clock + this.offset - since) / 1000));
      return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    },
    inDoubt(): boolean {
      return this.phase === "recording" && this.state?.parcel?.doubt === true;
    },
    // The text of a recording, and of what to do: while it runs, or may run, or has ended with a measurement that failed.
    recordingKey(): "recording" | "recordingDoubt" | "recorded" {
      const parcel = this.state?.parcel;
      return parcel?.doubt ? "recordingDoubt" : parcel?.recorded ? "recorded" : "recording";
    },
    // What is said of the parcel that is being packed, or perhaps will be.
    said(): { note: string; color: string } | null {
      const { parcel, asked } = this.state ?? {};
      const said = asked ?? (this.phase === "idle" ? null : parcel);
      return said && (said.note || said.color) ? said : null;
    },
    // Whether nothing can be begun. Of a parcel that is being packed, the lamp says what is known of that.
    isAway(): boolean {
      return this.phase === "idle" && (!this.connected || this.state?.device?.ok === false);
    },
    lampText(): string {
      const { t, phase } = this;
      if (this.isAway) {
        return t.away;
      }
      return phase === "measured" ? t.measuredPhase : t[phase === "recording" ? this.recordingKey : phase];
    },
    whatToDo(): string {
      const { t, phase, state } = this;
      if (!this.connected) {
        return t.doWait;
      }
      if (this.isAway) {
        return t.doAway;
      }
      if (state?.labelOf) {
        return this.named(t.doScanLabel, { reference: state.labelOf });
      }
      if (state?.withSignIn && !state.operator && phase === "idle") {
        return state.badge ? this.named(t.doSignInBadge, { badge: state.badge }) : t.doSignIn;
      }
      const ofRecording = {
        recording: t.doRecording,
        recordingDoubt: t.doRecordingDoubt,
        recorded: t.doRecorded,
      };
      const mayBeReported = state?.unknown === "measuring" && state.cloud !== undefined;
      switch (phase) {
        case "idle":
          return t.doIdle;
        case "recording":
          return ofRecording[this.recordingKey];
        case "measured":
          return t.doMeasured;
        case "question":
          return t.doQuestion;
        case "check":
          return mayBeReported ? t.doCheckOrWait : t.doCheck;
        default:
          return t.doWait;
      }
    },
    buttons(): { action: string; text: string; look: string }[] {
      const { t, phase, state } = this;
      const one = (action: string, text: string, look: string) => ({ action, text, look });
      const { parcel } = state ?? {};
      const cancel = one("cancel", this.named(t.buttonCancelParcel, parcel ?? {}), "");
      const label =
        parcel && parcel.packages.length > 0
          ? [one("label", state?.labelOf ? t.buttonNoLabel : t.buttonLabel, "")]
          : [];
      if (phase === "idle") {
        return label;
      }
      if (phase === "question") {
        return [
          one("box", t.buttonBox, "main"),
          one("startAgain", t.buttonStartAgain, ""),
          one("cancel", t.buttonLeave, ""),
        ];
      }
      if (phase === "recording") {
        return [one("measure", t.buttonMeasure, "main"), cancel];
      }
      if (phase === "measured") {
        return [one("confirm", t.buttonConfirm, "main"), one("measure", t.buttonAgain, ""), ...label, cancel];
      }
      const again = one("again", t.buttonRetry, "main");
      return phase !== "check" ? [] : state?.unknown === "cancelling" ? [again] : [again, cancel];
    },
    perHour(): string {
      const { parcels, since, until } = this.state?.shift ?? { parcels: 0, since: 0, until: null };
      const workedMs = (until ?? this.clock + this.offset) - since;
      // Of less than a minute, the rate would say nothing.
      return workedMs < 60_000 ? "–" : this.number(Math.round((parcels * 3_600_000) / workedMs));
    },
    figures(): { name: string; value: string; unit: string }[] {
      const { t } = this;
      const result = this.state?.parcel?.result;
      const shown = (value: number | null | undefined) =>
        typeof value === "number" ? this.number(value) : "–";
      const unit = result?.dimsUnitOfMeasure ?? "";
      return [
        { name: t.length, value: shown(result?.length), unit },
        { name: t.width, value: shown(result?.width), unit },
        { name: t.height, value: shown(result?.height), unit },
        {
          name: t.weight,
          value: shown(result?.weight),
          unit: typeof result?.weight === "number" ? (result.weightUnitOfMeasure ?? "") : "",
        },
      ];
    },
    bill(): { look: string; mark: string; text: string } | null {
      const { t } = this;
      const bill = this.state?.parcel?.billable;
      if (!bill) {
        return null;
      }
      if ("problem" in bill) {
        return { look: "bad", mark: "✖", text: `${t.notBillable}: ${bill.reason}` };
      }
      const weight = `${t.billable}: ${this.number(bill.weight)} ${bill.unit} (${t[bill.basis]})`;
      if (bill.over === null) {
        return { look: "fine", mark: "✔", text: `${weight}.` };
      }
      const limits = bill.over ? `${t.over}: ${bill.names.join(", ")}` : t.withinLimits;
      return { look: bill.over ? "bad" : "fine", mark: bill.over ? "▲" : "✔", text: `${weight}. ${limits}.` };
    },
    shownNotice(): LocalNotice | null {
      if (!this.connected) {
        return { kind: "error", text: this.t.offline, reason: "" };
      }
      const { notice } = this.state ?? {};
      if (this.localNotice !== null || !notice) {
        return this.localNotice;
      }
      const { kind, text, reason, time } = notice;
      return { kind, reason, text: time === null ? text : text.replace("{time}", () => this.time(time)) };
    },
    noticeMark(): string {
      return { good: "✔", error: "✖", info: "●", question: "?", stop: "■" }[this.shownNotice?.kind ?? "info"];
    },
  },
  methods: {
    // The parcel in words and figures.
    number(value: number): string {
      return value.toLocaleString(this.state?.language);
    },
    // With the day, if it was another one.
    time(at: number): string {
      const date = new Date(at);
      const isToday = date.toDateString() === new Date(this.clock + this.offset).toDateString();
      return date.toLocaleString(this.state?.language, {
        ...(isToday ? {} : { day: "numeric", month: "short", year: "numeric" }),
        hour: "2-digit",
        minute: "2-digit",
        hourCycle: "h23",
      });
    },
    mark(peer: { readonly ok: boolean } | null | undefined): string {
      return peer === null || peer === undefined ? "…" : peer.ok ? "✔" : "✖";
    },
    named(text: string, values: object): string {
      const all = new Map<string, unknown>(Object.entries(values));
      return text.replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = all.get(name);
        return typeof value === "string" || typeof value === "number" ? String(value) : "";
      });
    },
    entryText(one: ShownParcel): string {
      const { t } = this;
      const states = {
        packing: "",
        measured: t.stateMeasured,
        confirmed: t.stateConfirmed,
        cancelled: t.stateCancelled,
      };
      const time = this.time(one.at);
      const n = one.packages.length;
      const times = n > 1 ? `, ${this.named(t.times, { n })}` : "";
      return `${time} ${states[one.state]}${times}${one.operator ? `, ${one.operator}` : ""}`;
    },
    evidenceText({ packages }: ShownParcel, index: number): string {
      const { t } = this;
      const one = packages[index];
      if (one === undefined) {
        return "";
      }
      const which = packages.length > 1 ? `${this.named(t.measurementNumber, { n: index + 1 })}: ` : "";
      const text = {
        waiting: t.waiting,
        saved: t.saved,
        late: t.late,
        incomplete: t.incomplete,
        failed: t.evidenceFailed,
      };
      const what = one.holds ? ` (${this.named(t.holds, one.holds)})` : "";
      return which + text[one.evidence] + what;
    },

    // What a scanner types, wherever somebody has clicked.
    kept(): Kept {
      const { packingStation } = window;
      if (packingStation === undefined) {
        throw new Error("The page is not there any more.");
      }
      return packingStation;
    },
    // A code may also come without keys: pasted, or by the keyboard of a tablet.
    type(text: string): void {
      const kept = this.kept();
      kept.typed = this.typed = text;
      kept.keyAt = Date.now();
    },
    // What stands in the field for a while was a key that somebody hit by accident.
    forgetOldKeys(): void {
      const { typed, keyAt } = this.kept();
      if (typed !== "" && Math.abs(Date.now() - keyAt) > 10_000) {
        this.type("");
      }
    },
    // The listener outlives this component: what a scanner types while Dashboard makes the next one is for that one.
    listenToKeys(): void {
      const kept = this.kept();
      kept.screen = this;
      kept.page = location.pathname;
      if (kept.keys === null) {
        const keys: KeyboardEvent[] = (kept.keys = []);
        const listen = (event: KeyboardEvent) => {
          if (kept.screen !== null) {
            kept.screen.key(event);
          } else if (location.pathname === kept.page && !this.hasOwnKeys(event)) {
            keys.push(event);
            event.preventDefault();
            event.stopPropagation();
          }
        };
        document.addEventListener("keydown", listen, true);
      }
      this.readKeptKeys();
    },
    readKeptKeys(): void {
      const keys = this.kept().keys?.splice(0) ?? [];
      keys
        .filter(({ timeStamp }) => performance.now() - timeStamp < 10_000)
        .forEach((event) => this.key(event));
    },
    // Inputs of your own keep their keys inside of an element with the class own-keys.
    hasOwnKeys({ target }: KeyboardEvent): boolean {
      return target instanceof Element && target.closest(".own-keys") !== null;
    },
    // Wherever somebody has clicked, a scanner that types like a keyboard types into the scan field.
    key(event: KeyboardEvent): void {
      const { key } = event;
      if (this.hasOwnKeys(event) || this.unknownStation !== null) {
        return;
      }
      if (key === "Alt" || key === "Process" || key === "Unidentified") {
        // A scanner that writes as Alt+0228 does, or an input method: the browser writes, and only where the focus is.
        document.getElementById("packing-scan")?.focus();
        return;
      }
      const isGroupSeparator = event.ctrlKey && key === "]";
      const isShortcut =
        (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph");
      if (isShortcut && !isGroupSeparator) {
        return;
      }
      const kept = this.kept();
      if (this.state === null) {
        // Half a code would be another parcel: what comes before the page has its state is read when it has.
        if (key.length === 1 || key === "Enter") {
          kept.keys?.push(event);
          event.preventDefault();
          event.stopPropagation();
        }
        return;
      }
      this.forgetOldKeys();
      const { typed } = kept;
      if (key === "Enter" || key === "Tab") {
        if (typed === "") {
          return;
        }
        this.type("");
        this.queue("scan", typed);
      } else if (key === "Escape" && typed !== "") {
        this.type("");
      } else if (key === "Backspace") {
        this.type(typed.slice(0, -1));
      } else if (isGroupSeparator || (key.length === 1 && !(key === " " && typed === ""))) {
        if (!event.repeat) {
          this.type(typed + (isGroupSeparator ? "\u001d" : key));
        }
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    },

    // What the page and the flow tell each other: nothing is lost, nothing counts twice, nothing is late.
    emit(message: object): void {
      this.send({ ...message, station: this.station });
    },
    // Dashboard's chart is empty whenever it was made anew, which is when this component was.
    hello(isMade = false): void {
      if (!this.$socket.connected) {
        return;
      }
      const { state, phase } = this;
      const reference = phase === "idle" ? undefined : state?.parcel?.reference;
      const payload = { version: state?.version, boot: state?.boot, reference, isMade };
      this.emit({ topic: "hello", payload });
    },
    heard(message: ToScreen): void {
      if (message.station !== this.station) {
        return;
      }
      if (message.topic === "unknown") {
        this.t = message.payload.texts;
        this.unknownStation = message.payload.stations;
      } else if (message.topic === "alive") {
        this.offset = message.payload.now - Date.now();
      } else if (message.topic === "state") {
        this.show(message.payload);
      }
    },
    show(payload: ScreenState): void {
      const kept = this.kept();
      if (payload.texts) {
        kept.texts = this.t = payload.texts;
        document.documentElement.lang = payload.language ?? "";
      } else if (this.state === null) {
        return;
      }
      const isFirst = this.state === null;
      const { language, parcel: before } = this.state ?? {};
      kept.state = this.state = { ...(language === undefined ? {} : { language }), ...payload };
      this.offset = payload.now - Date.now();
      this.entitle();
      if (payload.inputs.includes(this.givenUp)) {
        this.localNotice = null;
      }
      if (payload.inputs.includes(this.pending[0]?.input ?? "")) {
        this.pending.shift();
        this.sendFirst();
      }
      if (isFirst) {
        this.readKeptKeys();
      }
      const { notice } = payload;
      if (notice !== null && notice.id !== kept.heard) {
        kept.heard = notice.id;
        if (!isFirst) {
          this.alert(notice.kind);
        }
      }
      const { parcel } = payload;
      const isNew = parcel?.id !== before?.id || parcel?.note !== before?.note;
      if (!isFirst && parcel !== null && isNew && parcel.note !== "" && payload.phase !== "idle") {
        this.alert("info");
        this.readAloud(parcel.note);
      }
    },
    // What a tab of the browser is called, which may be all that is seen of the page.
    entitle(): void {
      if (this.state !== null) {
        document.title = `${this.state.label} – ${this.lampText}`;
      }
    },
    // The second click of a double click finds another button in the same place, which nobody has read yet.
    press(action: string, { detail }: MouseEvent): void {
      if (detail < 2) {
        this.queue("button", action);
      }
    },
    queue(topic: Pending["topic"], payload: string): void {
      this.localNotice = null;
      if (!this.$socket.connected) {
        this.alert("error");
        return;
      }
      const input = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
      this.pending.push({ input, topic, payload, at: 0, firstSentAt: 0, sentAt: 0 });
      if (this.pending.length === 1) {
        this.sendFirst();
      }
    },
    // One after the other, so that none overtakes another one, and each again until Node-RED has confirmed it.
    sendFirst(): void {
      const [first] = this.pending;
      if (first === undefined || !this.$socket.connected) {
        return;
      }
      first.at ||= Date.now() + this.offset;
      first.sentAt = Date.now();
      first.firstSentAt ||= first.sentAt;
      const { input, topic, payload, at } = first;
      this.emit({ input, topic, payload, at });
    },
    // What Node-RED has not confirmed is sent again, and given up before it could count late; also where this browser's clock was put back
    // since, which would hold up all that follows.
    sendAgain(): void {
      const [first] = this.pending;
      if (first === undefined || first.at === 0) {
        return;
      }
      if (Math.abs(Date.now() - first.firstSentAt) > 6_000) {
        this.givenUp = first.input;
        this.pending.splice(0);
        const text = first.topic === "scan" ? first.payload : this.t.scanField;
        this.fail(this.named(this.t.notReceived, { text }));
      } else if (Date.now() - first.sentAt > 1_000) {
        this.sendFirst();
      }
    },

    // Flash and sound.
    alert(kind: NoticeKind): void {
      this.flash = "";
      this.$nextTick(() => {
        this.flash = kind;
      });
      this.beep(kind);
      if (kind === "question" || kind === "stop") {
        this.readAloud(this.shownNotice?.text ?? "");
      }
    },
    readAloud(text: string): void {
      if (this.state?.readsAloud) {
        const spoken = new SpeechSynthesisUtterance(text);
        spoken.lang = this.state.language ?? "";
        speechSynthesis.speak(spoken);
      }
    },
    beep(kind: NoticeKind): void {
      if (kind === "info") {
        return;
      }
      const sound = (this.kept().sound ??= new AudioContext());
      const tone = (hertz: number, from: number, seconds: number) => {
        const source = sound.createOscillator();
        const volume = sound.createGain();
        source.type = kind === "good" ? "sine" : "square";
        source.frequency.value = hertz;
        volume.gain.value = 0.2;
        source.connect(volume).connect(sound.destination);
        source.start(sound.currentTime + from);
        source.stop(sound.currentTime + from + seconds);
      };
      sound.resume().catch(() => undefined);
      if (kind !== "good") {
        [0, 0.25, 0.5].forEach((from) => tone(220, from, 0.18));
      } else {
        tone(880, 0, 0.12);
      }
    },
    fail(text: string): void {
      this.localNotice = { kind: "error", text, reason: "" };
      this.alert("error");
    },
    tick(): void {
      this.clock = Date.now();
      document.querySelector(".packing-shift [role=img]")?.setAttribute("aria-label", this.t.perHour ?? "");
      this.connected = this.$socket.connected;
      this.entitle();
      this.forgetOldKeys();
      this.sendAgain();
    },
  },
  mounted() {
    this.listeners = {
      connect: () => {
        this.connected = true;
        this.hello();
        this.sendFirst();
      },
      disconnect: () => {
        this.connected = false;
      },
      [`msg-input:${this.id}`]: (message: ToScreen) => this.heard(message),
    };
    this.listenToKeys();
    Object.entries(this.listeners).forEach(([name, listener]) => this.$socket.on(name, listener));
    this.clocks = [setInterval(() => this.tick(), 500), setInterval(() => this.hello(), 10_000)];
    this.hello(true);
    const greeting = setInterval(() => {
      if (this.state === null) {
        this.hello();
      } else {
        clearInterval(greeting);
      }
    }, 1_000);
    this.clocks.push(greeting);
  },
  unmounted() {
    const kept = this.kept();
    if (kept.screen === this) {
      kept.screen = null;
    }
    Object.entries(this.listeners).forEach(([name, listener]) => this.$socket.off(name, listener));
    this.clocks.forEach((one) => clearInterval(one));
  },
});
