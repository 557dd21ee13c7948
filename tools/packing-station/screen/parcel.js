// The parcel in words and figures.
export default {
  computed: {
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
      const n = one.packages.length;
      const times = n > 1 ? `, ${this.named(t.times, { n })}` : "";
      return `${time} ${state}${times}${one.operator ? `, ${one.operator}` : ""}`;
    },
    evidenceText({ packages }, index) {
      const { t } = this;
      const { evidence, holds } = packages[index];
      const which = packages.length > 1 ? `${this.named(t.measurementNumber, { n: index + 1 })}: ` : "";
      const text = {
        waiting: t.waiting,
        saved: t.saved,
        late: t.late,
        incomplete: t.incomplete,
        failed: t.evidenceFailed,
      };
      const what = holds ? ` (${this.named(t.holds, holds)})` : "";
      return which + text[evidence] + what;
    },
  },
};
