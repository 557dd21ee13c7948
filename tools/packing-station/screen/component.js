export default {
  data() {
    // Dashboard makes this component anew after each deploy. What is being typed or sent must not get lost with it.
    window.packingStation ??= {
      typed: "",
      keyAt: 0,
      pending: [],
      state: null,
      texts: {},
      heard: "",
      station: null,
    };
    const kept = window.packingStation;
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
    perHour() {
      const { parcels, since } = this.state.shift;
      const hours = Math.max(1 / 12, (this.clock + this.offset - since) / 3_600_000);
      return Math.round(parcels / hours).toLocaleString(this.state.language);
    },
  },
  methods: {
    tick() {
      this.clock = Date.now();
      document.querySelector(".packing-shift [role=img]")?.setAttribute("aria-label", this.t.perHour ?? "");
      this.connected = this.$socket.connected;
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
    };
    this.onMessage = (message) => this.heard(message);
    this.listenToKeys();
    this.$socket.on(`msg-input:${this.id}`, this.onMessage);
    Object.entries(this.listeners).forEach(([name, listener]) => this.$socket.on(name, listener));
    this.clocks = [setInterval(() => this.tick(), 500), setInterval(() => this.hello(), 10_000)];
    this.hello(true);
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
