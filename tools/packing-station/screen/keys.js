// What a scanner types, wherever somebody has clicked.
export default {
  methods: {
    // A code may also come without keys: pasted, or by the keyboard of a tablet.
    type(text) {
      window.packingStation.typed = this.typed = text;
      window.packingStation.keyAt = Date.now();
    },
    // What stands in the field for a while was a key that somebody hit by accident.
    forgetOldKeys() {
      const { typed, keyAt } = window.packingStation;
      if (typed !== "" && Date.now() - keyAt > 10_000) {
        this.type("");
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
      this.readKeptKeys();
    },
    readKeptKeys() {
      const keys = window.packingStation.keys.splice(0);
      keys
        .filter(({ timeStamp }) => performance.now() - timeStamp < 10_000)
        .forEach((event) => this.key(event));
    },
    // Wherever somebody has clicked, a scanner that types like a keyboard types into the scan field. Inputs of your own
    // keep their keys inside of an element with the class own-keys.
    key(event) {
      const { key } = event;
      const kept = window.packingStation;
      if (event.target.closest?.(".own-keys") || this.unknownStation !== null) {
        return;
      }
      const isGroupSeparator = event.ctrlKey && key === "]";
      const isShortcut =
        (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph");
      if (isShortcut && !isGroupSeparator) {
        return;
      }
      if (this.state === null) {
        // Half a code would be another parcel: what comes before the page has its state is read when it has.
        if (key.length === 1 || key === "Enter") {
          kept.keys.push(event);
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
  },
};
