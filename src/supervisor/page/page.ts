import { component } from "../../dashboard/component.ts";
import type { Texts } from "../texts.ts";
import type { Alarm, PageState } from "../types.ts";

interface Data {
  state: PageState | null;
  t: Texts;
  connected: boolean;
  name: string;
  isNameMissing: boolean;
  listeners: Record<string, (message: never) => void>;
}

export default component({
  data(): Data {
    return {
      state: null,
      // There are none until the first state brings them, and nothing is shown before.
      t: {} as Texts,
      connected: true,
      name: localStorage.getItem("supervisor-name") ?? "",
      isNameMissing: false,
      listeners: {},
    };
  },
  computed: {
    tiles(): { key: string; name: string; value: string }[] {
      const { t } = this;
      const silent = this.state?.silent;
      const store = this.state?.store ?? null;
      const known = store === null || "problem" in store ? null : store;
      const oldest = known?.oldestJobFor;
      const job = oldest === null ? t.noJob : t.minutes.replace("{n}", this.number((oldest ?? 0) / 60));
      const free = known?.freeBytes ?? null;
      const space = free === null ? t.notKnown : t.gigabytes.replace("{n}", this.number(free / 1e9));
      const never = known?.neverVerified ?? 0;
      const oldestAt = known?.oldestVerificationAtUtc ?? null;
      const verified =
        oldestAt === null ? t.noVerification : new Date(oldestAt).toLocaleDateString(this.state?.language);
      const count = this.number(never);
      // The state of a store counts no more packages than this.
      const mostCounted = 10_000;
      const unverified = never < mostCounted ? count : t.moreThan.replace("{n}", count);
      return [
        { key: "jobs", name: t.openJobs, value: known ? this.number(known.openJobs) : t.notKnown },
        { key: "oldest", name: t.oldestJob, value: known ? job : t.notKnown },
        { key: "space", name: t.freeSpace, value: space },
        { key: "records", name: t.records, value: known ? this.number(known.unhandledRecords) : t.notKnown },
        { key: "verified", name: t.oldestVerification, value: known ? verified : t.notKnown },
        { key: "unverified", name: t.neverVerified, value: known ? unverified : t.notKnown },
        { key: "silent", name: t.silent, value: silent ? this.number(silent.length) : t.notKnown },
        { key: "clock", name: t.cloudClock, value: this.state?.cloudClock ?? t.notKnown },
      ];
    },
  },
  methods: {
    number(value: number): string {
      return value.toLocaleString(this.state?.language, { maximumFractionDigits: 0 });
    },
    // With the day, if it was another one: alarms and docks outlive a night.
    clock(time: number | null): string {
      const date = new Date(time ?? 0);
      const isToday = date.toDateString() === new Date(this.state?.now ?? 0).toDateString();
      return date.toLocaleString(this.state?.language, {
        ...(isToday ? {} : { day: "numeric", month: "short", year: "numeric" }),
        hour: "2-digit",
        minute: "2-digit",
        hourCycle: "h23",
      });
    },
    look({ by, over }: Alarm): string {
      return by || over ? "is-quiet" : "is-new";
    },
    times({ since, over, by, at }: Alarm): string {
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
    acknowledge({ id }: Alarm): void {
      const name = this.name.trim();
      this.isNameMissing = name === "";
      if (!this.isNameMissing) {
        localStorage.setItem("supervisor-name", name);
        this.send({ topic: "acknowledge", payload: { id, name } });
      }
    },
    // Dashboard's table uses the texts of Vuetify, the library that it is made with.
    translateTable(): void {
      const { locale } = this.$vuetify;
      const { current, messages } = locale;
      const named = (prefix: string) =>
        Object.fromEntries(
          Object.entries(this.t)
            .filter(([key]) => key.startsWith(prefix))
            .map(([key, text]) => [key.slice(prefix.length), text]),
        );
      const texts = {
        ...messages[current],
        noDataText: this.t.noRows,
        dataFooter: named("footer_"),
        dataTable: { ...messages[current]?.dataTable, ariaLabel: named("sort_") },
      };
      locale.messages = { ...messages, [current]: texts };
    },
    // Dashboard draws charts as images without a name, which a screen reader needs, and calls its search in English.
    nameWidgets(): void {
      const names = [this.t.parcelsByHour, this.t.jobsByTime];
      document.querySelectorAll(".supervisor-charts [role=img]").forEach((chart, index) => {
        chart.setAttribute("aria-label", names[index] ?? "");
      });
      document.querySelectorAll(".supervisor-parcels .v-field-label").forEach((label) => {
        label.textContent = this.t.search;
      });
    },
    show({ topic, payload }: { readonly topic: "state"; readonly payload: PageState }): void {
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
    this.listeners = {
      connect: () => {
        this.connected = true;
      },
      disconnect: () => {
        this.connected = false;
      },
      [`msg-input:${this.id}`]: (message: Parameters<typeof this.show>[0]) => this.show(message),
    };
    Object.entries(this.listeners).forEach(([name, listener]) => this.$socket.on(name, listener));
  },
  unmounted() {
    Object.entries(this.listeners).forEach(([name, listener]) => this.$socket.off(name, listener));
  },
});
