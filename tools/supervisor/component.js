export default {
  data() {
    return {
      state: null,
      t: {},
      connected: true,
      name: localStorage.getItem("supervisor-name") ?? "",
      isNameMissing: false,
    };
  },
  computed: {
    tiles() {
      const { t } = this;
      const { store, silent } = this.state;
      const isKnown = store && !store.problem;
      const known = (value) => (isKnown ? value() : t.notKnown);
      const fill = (text, n) => text.replace("{n}", n);
      const job = () =>
        store.oldestJobFor === null ? t.noJob : fill(t.minutes, this.number(store.oldestJobFor / 60));
      const space = () =>
        store.freeBytes === null ? t.notKnown : fill(t.gigabytes, this.number(store.freeBytes / 1e9));
      return [
        { key: "jobs", name: t.openJobs, value: known(() => this.number(store.openJobs)) },
        { key: "oldest", name: t.oldestJob, value: known(job) },
        { key: "space", name: t.freeSpace, value: known(space) },
        { key: "records", name: t.records, value: known(() => this.number(store.unhandledRecords)) },
        { key: "silent", name: t.silent, value: silent === null ? t.notKnown : this.number(silent.length) },
      ];
    },
  },
  methods: {
    number(value) {
      return value.toLocaleString(this.state.language, { maximumFractionDigits: 0 });
    },
    clock(time) {
      return new Date(time).toLocaleTimeString(this.state.language, { hour: "2-digit", minute: "2-digit" });
    },
    look({ by, over }) {
      return by || over ? "is-quiet" : "is-new";
    },
    times({ since, over, by, at }) {
      const { t } = this;
      const parts = [t.since.replace("{time}", this.clock(since))];
      if (over) {
        parts.push(t.over.replace("{time}", this.clock(over)));
      }
      if (by) {
        parts.push(t.acknowledged.replace("{by}", () => by).replace("{time}", this.clock(at)));
      }
      return parts.join(", ");
    },
    acknowledge({ id }) {
      const name = this.name.trim();
      this.isNameMissing = name === "";
      if (!this.isNameMissing) {
        localStorage.setItem("supervisor-name", name);
        this.send({ topic: "acknowledge", payload: { id, name } });
      }
    },
    // Dashboard's table uses the texts of Vuetify, the library that it is made with.
    translateTable() {
      const { locale } = this.$vuetify;
      const { current, messages } = locale;
      const named = (prefix) =>
        Object.fromEntries(
          Object.entries(this.t)
            .filter(([key]) => key.startsWith(prefix))
            .map(([key, text]) => [key.slice(prefix.length), text]),
        );
      const texts = {
        ...messages[current],
        noDataText: this.t.noRows,
        dataFooter: named("footer_"),
        dataTable: { ...messages[current].dataTable, ariaLabel: named("sort_") },
      };
      locale.messages = { ...messages, [current]: texts };
    },
    // Dashboard draws charts as images without a name, which a screen reader needs, and calls its search in English.
    nameWidgets() {
      const names = [this.t.parcelsByHour, this.t.jobsByTime];
      document.querySelectorAll(".supervisor-charts [role=img]").forEach((chart, index) => {
        chart.setAttribute("aria-label", names[index] ?? "");
      });
      document.querySelectorAll(".supervisor-parcels .v-field-label").forEach((label) => {
        label.textContent = this.t.search;
      });
    },
    show({ topic, payload }) {
      if (topic === "state") {
        const isOther = this.state?.language !== payload.language;
        this.t = payload.texts;
        this.state = payload;
        document.documentElement.lang = payload.language;
        document.title = payload.texts.title;
        if (isOther) {
          this.translateTable();
        }
        this.nameWidgets();
      }
    },
  },
  mounted() {
    this.onMessage = (message) => this.show(message);
    this.listeners = {
      connect: () => {
        this.connected = true;
      },
      disconnect: () => {
        this.connected = false;
      },
    };
    this.$socket.on(`msg-input:${this.id}`, this.onMessage);
    Object.entries(this.listeners).forEach(([name, listener]) => this.$socket.on(name, listener));
  },
  unmounted() {
    this.$socket.off(`msg-input:${this.id}`, this.onMessage);
    Object.entries(this.listeners).forEach(([name, listener]) => this.$socket.off(name, listener));
  },
};
