// Flash and sound.
export default {
  computed: {
    shownNotice() {
      return this.localNotice ?? this.state.notice;
    },
    noticeMark() {
      return { good: "✔", error: "✖", info: "●" }[this.shownNotice.kind];
    },
  },
  methods: {
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
  },
};
