export default {
  data() {
    // Dashboard makes this component anew after each deploy. What is being typed or sent must not get lost with it.
    window.packingStation ??= { typed: "", keyAt: 0, pending: [], state: null, texts: {}, heard: "" };
    const kept = window.packingStation;
    return {
      station: new URLSearchParams(location.search).get("station"),
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
    };
  },
  computed: {
    referenceText() {
      const { parcel } = this.state;
      if (!parcel) {
        return this.t.nothingYet;
      }
      return this.phase === "idle" ? this.named(this.t.lastParcel, parcel) : parcel.reference;
    },
    phase() {
      return this.state?.phase ?? "idle";
    },
    recordingFor() {
      const seconds = Math.max(0, Math.floor((this.clock + this.offset - this.state.since) / 1000));
      return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    },
    inDoubt() {
      return this.phase === "recording" && this.state.parcel?.doubt === true;
    },
    // The text of a recording, and of what to do: while it runs, or may run, or has ended with a measurement that failed.
    recordingKey() {
      const { doubt, recorded } = this.state.parcel ?? {};
      return doubt ? "recordingDoubt" : recorded ? "recorded" : "recording";
    },
    lampText() {
      const { t, phase } = this;
      return { measured: t.measuredPhase, recording: t[this.recordingKey] }[phase] ?? t[phase];
    },
    whatToDo() {
      const { withSignIn, operator } = this.state;
      if (withSignIn && !operator && this.phase === "idle") {
        return this.t.doSignIn;
      }
      const ofRecording = {
        recording: "doRecording",
        recordingDoubt: "doRecordingDoubt",
        recorded: "doRecorded",
      };
      const mayBeReported = this.state.unknown === "measuring" && this.state.cloud !== undefined;
      const check = mayBeReported ? "doCheckOrWait" : "doCheck";
      const recording = ofRecording[this.recordingKey];
      const keys = { idle: "doIdle", recording, measured: "doMeasured", check };
      return this.t[keys[this.phase] ?? "doWait"];
    },
    buttons() {
      const { t } = this;
      const one = (action, text, look) => ({ action, text, look });
      const cancel = one("cancel", t.buttonCancel, "");
      return (
        {
          recording: [one("measure", t.buttonMeasure, "main"), cancel],
          measured: [one("confirm", t.buttonConfirm, "main"), one("measure", t.buttonAgain, ""), cancel],
          check:
            this.state.unknown === "cancelling"
              ? [one("again", t.buttonRetry, "main")]
              : [one("again", t.buttonRetry, "main"), cancel],
        }[this.phase] ?? []
      );
    },
    figures() {
      const { t } = this;
      const result = this.state.parcel?.result ?? {};
      const shown = (value) => (typeof value === "number" ? value.toLocaleString(this.state.language) : "–");
      const size = (name, value) => ({ name, value: shown(value), unit: result.dimsUnitOfMeasure ?? "" });
      return [
        size(t.length, result.length),
        size(t.width, result.width),
        size(t.height, result.height),
        {
          name: t.weight,
          value: shown(result.weight),
          unit: typeof result.weight === "number" ? result.weightUnitOfMeasure : "",
        },
      ];
    },
    bill() {
      const { t } = this;
      const bill = this.state.parcel?.billable;
      if (!bill) {
        return null;
      }
      if (bill.problem) {
        return { look: "bad", mark: "✖", text: `${t.notBillable}: ${bill.problem}` };
      }
      const weight = `${t.billable}: ${bill.weight.toLocaleString(this.state.language)} ${bill.unit} (${t[bill.basis]})`;
      const limits = bill.over ? `${t.over}: ${bill.names.join(", ")}` : t.withinLimits;
      return { look: bill.over ? "bad" : "fine", mark: bill.over ? "▲" : "✔", text: `${weight}. ${limits}.` };
    },
    perHour() {
      const { parcels, since } = this.state.shift;
      const hours = Math.max(1 / 12, (this.clock + this.offset - since) / 3_600_000);
      return Math.round(parcels / hours).toLocaleString(this.state.language);
    },
    shownNotice() {
      return this.localNotice ?? this.state.notice;
    },
    noticeMark() {
      return { good: "✔", error: "✖", info: "●" }[this.shownNotice.kind];
    },
  },
  methods: {
    mark(peer) {
      return peer === null || peer === undefined ? "…" : peer.ok ? "✔" : "✖";
    },
    named(text, values) {
      return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
    },
    entryText(one) {
      const { t } = this;
      const state = { measured: t.stateMeasured, confirmed: t.stateConfirmed, cancelled: t.stateCancelled }[
        one.state
      ];
      const time = new Date(one.at).toLocaleTimeString(this.state.language, {
        hour: "2-digit",
        minute: "2-digit",
      });
      const times = one.measurements > 1 ? `, ${this.named(t.times, { n: one.measurements })}` : "";
      return `${time} ${state}${times}${one.operator ? `, ${one.operator}` : ""}`;
    },
    evidenceText(one) {
      const { t } = this;
      const text = {
        waiting: t.waiting,
        saved: t.saved,
        late: t.late,
        incomplete: t.incomplete,
        failed: t.evidenceFailed,
      };
      return one.holds ? `${text[one.evidence]} (${this.named(t.holds, one.holds)})` : text[one.evidence];
    },
    emit(message) {
      this.send({ ...message, station: this.station });
    },
    hello() {
      if (!this.$socket.connected) {
        return;
      }
      const { version, boot, phase, parcel } = this.state ?? {};
      const isPacking = phase !== undefined && phase !== "idle";
      const reference = isPacking ? parcel?.reference : undefined;
      this.emit({ topic: "hello", payload: { version, boot, reference } });
    },
    heard(message) {
      if (message.station !== this.station) {
        return;
      }
      const { payload } = message;
      if (message.topic === "unknown") {
        this.t = payload.texts;
        this.unknownStation = payload.stations;
      } else if (message.topic === "alive") {
        this.offset = payload.now - Date.now();
      } else if (message.topic === "state") {
        this.show(payload);
      }
    },
    show(payload) {
      const kept = window.packingStation;
      if (payload.texts) {
        kept.texts = this.t = payload.texts;
        document.documentElement.lang = payload.language;
      } else if (this.state === null) {
        return;
      }
      const isFirst = this.state === null;
      kept.state = this.state = { language: this.state?.language, ...payload };
      this.offset = payload.now - Date.now();
      document.title = `${payload.label} – ${this.t[payload.phase].split(":")[0]}`;
      if (payload.inputs.includes(this.givenUp)) {
        this.localNotice = null;
      }
      if (payload.inputs.includes(this.pending[0]?.input)) {
        this.pending.shift();
        this.sendFirst();
      }
      const { notice } = payload;
      if (notice !== null && notice.id !== kept.heard) {
        kept.heard = notice.id;
        if (!isFirst) {
          this.alert(notice.kind);
        }
      }
    },
    alert(kind) {
      this.flash = "";
      this.$nextTick(() => {
        this.flash = kind;
      });
      this.beep(kind);
    },
    beep(kind) {
      if (kind === "info") {
        return;
      }
      const { packingStation: kept } = window;
      kept.sound ??= new AudioContext();
      const { sound } = kept;
      const tone = (hertz, from, seconds) => {
        const source = sound.createOscillator();
        const volume = sound.createGain();
        source.type = kind === "error" ? "square" : "sine";
        source.frequency.value = hertz;
        volume.gain.value = 0.2;
        source.connect(volume).connect(sound.destination);
        source.start(sound.currentTime + from);
        source.stop(sound.currentTime + from + seconds);
      };
      sound.resume().catch(() => undefined);
      if (kind === "error") {
        [0, 0.25, 0.5].forEach((from) => tone(220, from, 0.18));
      } else {
        tone(880, 0, 0.12);
      }
    },
    fail(text) {
      this.localNotice = { kind: "error", text, detail: "" };
      this.alert("error");
    },
    press(action) {
      this.queue("button", action);
    },
    type(text) {
      window.packingStation.typed = this.typed = text;
    },
    queue(topic, payload) {
      this.localNotice = null;
      if (!this.$socket.connected) {
        this.fail(this.t.offline);
        return;
      }
      const input = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
      this.pending.push({ input, topic, payload, at: 0, sentAt: 0 });
      if (this.pending.length === 1) {
        this.sendFirst();
      }
    },
    // One after the other, so that none overtakes another one, and each again until Node-RED has confirmed it.
    sendFirst() {
      const [first] = this.pending;
      if (first === undefined || !this.$socket.connected) {
        return;
      }
      first.at ||= Date.now() + this.offset;
      first.sentAt = Date.now();
      const { input, topic, payload, at } = first;
      this.emit({ input, topic, payload, at });
    },
    tick() {
      this.clock = Date.now();
      document.querySelector(".packing-shift [role=img]")?.setAttribute("aria-label", this.t.perHour ?? "");
      this.connected = this.$socket.connected;
      const [first] = this.pending;
      if (first === undefined || first.at === 0) {
        return;
      }
      if (Date.now() + this.offset - first.at > 6_000) {
        this.givenUp = first.input;
        this.pending.splice(0);
        this.fail(
          this.named(this.t.notReceived, { text: first.topic === "scan" ? first.payload : this.t.scanField }),
        );
      } else if (Date.now() - first.sentAt > 1_000) {
        this.sendFirst();
      }
    },
    // The listener outlives this component: what a scanner types while Dashboard makes the next one is for that one.
    listenToKeys() {
      const kept = window.packingStation;
      kept.screen = this;
      kept.page = location.pathname;
      if (kept.keys === undefined) {
        kept.keys = [];
        const listen = (event) => {
          if (kept.screen !== null) {
            kept.screen.key(event);
          } else if (location.pathname === kept.page && !event.target.closest?.(".own-keys")) {
            kept.keys.push(event);
            event.preventDefault();
            event.stopPropagation();
          }
        };
        document.addEventListener("keydown", listen, true);
      }
      kept.keys.splice(0).forEach((event) => this.key(event));
    },
    // Wherever somebody has clicked, a scanner that types like a keyboard types into the scan field. Inputs of your own
    // keep their keys inside of an element with the class own-keys.
    key(event) {
      const { key } = event;
      const kept = window.packingStation;
      if (event.target.closest?.(".own-keys") || this.state === null) {
        return;
      }
      const isGroupSeparator = event.ctrlKey && key === "]";
      const isShortcut =
        (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph");
      if (isShortcut && !isGroupSeparator) {
        return;
      }
      // What stands in the field for a while was a key that somebody hit by accident.
      const typed = Date.now() - kept.keyAt > 10_000 ? "" : kept.typed;
      if (key === "Enter" || key === "Tab") {
        if (typed === "") {
          return;
        }
        this.type("");
        this.queue("scan", typed);
      } else if (key === "Escape") {
        this.type("");
      } else if (key === "Backspace") {
        this.type(typed.slice(0, -1));
      } else if (isGroupSeparator || (key.length === 1 && !(key === " " && typed === ""))) {
        if (!event.repeat) {
          this.type(typed + (isGroupSeparator ? "\u001d" : key));
        }
        kept.keyAt = Date.now();
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
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
    };
    this.onMessage = (message) => this.heard(message);
    this.listenToKeys();
    this.$socket.on(`msg-input:${this.id}`, this.onMessage);
    Object.entries(this.listeners).forEach(([name, listener]) => this.$socket.on(name, listener));
    this.clocks = [setInterval(() => this.tick(), 500), setInterval(() => this.hello(), 10_000)];
    this.hello();
    this.greeting = setInterval(() => {
      if (this.state === null) {
        this.hello();
      } else {
        clearInterval(this.greeting);
      }
    }, 1_000);
  },
  unmounted() {
    if (window.packingStation.screen === this) {
      window.packingStation.screen = null;
    }
    this.$socket.off(`msg-input:${this.id}`, this.onMessage);
    Object.entries(this.listeners).forEach(([name, listener]) => this.$socket.off(name, listener));
    [...this.clocks, this.greeting].forEach((one) => clearInterval(one));
  },
};
