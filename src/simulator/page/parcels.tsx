import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import * as v from "valibot";
import type { Actions } from "./control.ts";
import { catalogueParcel, type CatalogueParcel, type Generation, type TableParcel } from "./shapes.ts";
import { dimensions, number } from "./words.ts";

const failingParcel = {
  lengthCm: 60,
  widthCm: 40,
  heightCm: 39.5,
  weightKg: 9.42,
  errorCode: 3,
  errorMessage: "The parcel reaches over the edge of the table",
};
const ownErrorCode = 4;

function described(parcel: TableParcel | null): string {
  if (parcel === null) {
    return "nothing";
  }
  const { lengthCm, widthCm, heightCm, weightKg, barcode } = parcel;
  const label = barcode === "" ? "" : `, ${barcode}`;
  return `${dimensions(lengthCm, widthCm, heightCm)} cm, ${number(weightKg)} kg${label}`;
}

/** The name of the tile of a parcel on the table. */
function tileOf(parcel: TableParcel | null): string {
  if (parcel === null) {
    return "parcel-none";
  }
  if (parcel.name !== null) {
    return `parcel-${parcel.name}`;
  }
  return parcel.errorMessage === failingParcel.errorMessage ? "parcel-failing" : "parcel-own";
}

function useCatalogue(): readonly CatalogueParcel[] {
  const [parcels, setParcels] = useState<readonly CatalogueParcel[]>([]);
  useEffect(() => {
    async function load(): Promise<void> {
      const answer: unknown = await (await fetch("catalogue")).json();
      setParcels(v.parse(v.array(catalogueParcel), answer));
    }
    void load();
  }, []);
  return parcels;
}

interface TileProps {
  readonly id: string;
  readonly title?: string;
  readonly pressed: string;
  readonly isOpen?: boolean;
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}

function Tile({ id, title, pressed, isOpen, onClick, children }: TileProps): VNode {
  return (
    <button
      type="button"
      class="parcel"
      id={id}
      title={title}
      aria-pressed={pressed === id}
      aria-expanded={isOpen}
      aria-controls={isOpen === true ? "own" : undefined}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

/** Reads the form of a custom parcel. */
function parcelOf(form: HTMLFormElement): Record<string, unknown> {
  const given = new FormData(form);
  function text(name: string): string {
    const value = given.get(name);
    return typeof value === "string" ? value : "";
  }
  const size = (name: string): number => Number(text(name));
  const error = text("error");
  return {
    lengthCm: size("length"),
    widthCm: size("width"),
    heightCm: size("height"),
    weightKg: size("weight"),
    barcode: text("barcode"),
    ...(error === "" ? {} : { errorCode: ownErrorCode, errorMessage: error }),
  };
}

const sizes = [
  { name: "length", label: "Length, cm", least: "0.1", first: "40" },
  { name: "width", label: "Width, cm", least: "0.1", first: "30" },
  { name: "height", label: "Height, cm", least: "0.1", first: "20" },
  { name: "weight", label: "Weight, kg", least: "0", first: "2.5" },
];

function OwnParcel({ put }: { readonly put: (parcel: unknown) => void }): VNode {
  function submit(event: SubmitEvent & { readonly currentTarget: HTMLFormElement }): void {
    event.preventDefault();
    put(parcelOf(event.currentTarget));
  }
  return (
    <form id="own" class="own" onSubmit={submit}>
      {sizes.map(({ name, label, least, first }) => (
        <label key={name}>
          {label}
          <input
            id={`own-${name}`}
            name={name}
            type="number"
            min={least}
            step="any"
            required
            defaultValue={first}
          />
        </label>
      ))}
      <label class="wide">
        Barcode
        <input id="own-barcode" name="barcode" autocomplete="off" spellcheck={false} />
      </label>
      <label class="wide">
        Error message, if it cannot be measured
        <input id="own-error" name="error" autocomplete="off" placeholder="none" />
      </label>
      <button type="submit" class="main">
        Put on the table
      </button>
    </form>
  );
}

interface ParcelsProps {
  readonly parcel: TableParcel | null;
  readonly generation: Generation;
  readonly actions: Actions;
}

/** The panel that puts parcels on the table of the selected device. */
export function Parcels({ parcel, generation, actions: { control } }: ParcelsProps): VNode {
  const catalogue = useCatalogue();
  const [isOpen, setOpen] = useState(false);
  const pressed = tileOf(parcel);
  const put = (next: unknown): void => void control.send("parcel", { device: generation, parcel: next });
  return (
    <section class="card table" aria-labelledby="table-title">
      <div class="head">
        <h2 id="table-title">On the table</h2>
        <p id="on-table" class="hint">
          {described(parcel)}
        </p>
      </div>
      <div class="parcels" id="parcels" role="group" aria-labelledby="table-title">
        {catalogue.map(({ name, title, lengthCm, widthCm, heightCm, weightKg, barcode }) => (
          <Tile
            key={name}
            id={`parcel-${name}`}
            title={`${dimensions(lengthCm, widthCm, heightCm)} cm, ${number(weightKg)} kg, ${barcode}`}
            pressed={pressed}
            onClick={() => put(name)}
          >
            <img alt="" width="560" height="420" src={`catalogue/${name}/color`} />
            <b>{title}</b>
          </Tile>
        ))}
        <Tile id="parcel-none" pressed={pressed} onClick={() => put(null)}>
          <img src="table.svg" alt="" width="560" height="420" />
          <b>Empty table</b>
        </Tile>
        <Tile id="parcel-failing" pressed={pressed} onClick={() => put(failingParcel)}>
          <img src="catalogue/shipping-carton/color" alt="" class="askew" width="560" height="420" />
          <b>Can’t be mea&shy;sured</b>
        </Tile>
        <Tile id="parcel-own" pressed={pressed} isOpen={isOpen} onClick={() => setOpen(!isOpen)}>
          <svg viewBox="0 0 56 42" aria-hidden>
            <path d="M12 13v20h32V13zM12 8h32M12 5.5v5M44 5.5v5M6 13v20M3.5 13h5M3.5 33h5" />
          </svg>
          <b>Custom parcel…</b>
        </Tile>
      </div>
      {isOpen && <OwnParcel put={put} />}
    </section>
  );
}
