/** What Dashboard gives to the component of a ui-template node, beside what the component itself has. */
interface Given {
  readonly id: string;
  readonly $socket: {
    readonly connected: boolean;
    on(event: string, listener: (message: never) => void): void;
    off(event: string, listener: (message: never) => void): void;
  };
  readonly $vuetify: {
    readonly locale: { readonly current: string; messages: Record<string, VuetifyTexts> };
  };
  $nextTick(callback: () => void): void;
  /** Sends a message from the node's output. */
  send(message: object): void;
}

/** The texts of the library that Dashboard's widgets are made with, as far as they are replaced. */
export interface VuetifyTexts {
  readonly dataTable?: object;
}

type Getters = Record<string, () => unknown>;
type Methods = Record<string, (...values: never[]) => unknown>;
type This<TData, TComputed extends Getters, TMethods> = TData &
  TMethods & { readonly [TName in keyof TComputed]: ReturnType<TComputed[TName]> } & Given;

/**
 * Returns the component of a ui-template node as it is, and gives its `this` a type. Dashboard reads the component from the text of
 * the node and takes a single object without imports, which is why `npm run write:docs` removes this call.
 */
export function component<TData, TComputed extends Getters, TMethods extends Methods>(
  options: {
    data(): TData;
    computed: TComputed;
    methods: TMethods;
    mounted(): void;
    unmounted(): void;
  } & ThisType<This<TData, TComputed, TMethods>>,
) {
  return options;
}
