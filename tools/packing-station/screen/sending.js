// What the page and the flow tell each other: nothing is lost, nothing counts twice, nothing is late.
export default {
  methods: {
    emit(message) {
      this.send({ ...message, station: this.station });
    },
    // Dashboard's chart is empty whenever it was made anew, which is when this component was.
    hello(isMade = false) {
      if (!this.$socket.connected) {
        return;
      }
      const { version, boot, phase, parcel } = this.state ?? {};
      const isPacking = phase !== undefined && phase !== "idle";
      const reference = isPacking ? parcel?.reference : undefined;
      this.emit({ topic: "hello", payload: { version, boot, reference, isMade } });
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
    },
    press(action) {
      this.queue("button", action);
    },
    queue(topic, payload) {
      this.localNotice = null;
      if (!this.$socket.connected) {
        this.fail(this.t.offline);
        return;
      }
      const input = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
      this.pending.push({ input, topic, payload, at: 0, firstSentAt: 0, sentAt: 0 });
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
      first.firstSentAt ||= first.sentAt;
      const { input, topic, payload, at } = first;
      this.emit({ input, topic, payload, at });
    },
    // What Node-RED has not confirmed is sent again, and given up before it could count late.
    sendAgain() {
      const [first] = this.pending;
      if (first === undefined || first.at === 0) {
        return;
      }
      if (Date.now() - first.firstSentAt > 6_000) {
        this.givenUp = first.input;
        this.pending.splice(0);
        this.fail(
          this.named(this.t.notReceived, { text: first.topic === "scan" ? first.payload : this.t.scanField }),
        );
      } else if (Date.now() - first.sentAt > 1_000) {
        this.sendFirst();
      }
    },
  },
};
