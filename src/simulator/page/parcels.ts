import * as v from "valibot";

import type { Control } from "./control.ts";
import { byId, fromTemplate, setText, within } from "./dom.ts";
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

/** Creates the panel that puts parcels on the table of the selected device. */
export function createParcels(
  control: Control,
  shown: () => Generation,
): (parcel: TableParcel | null) => void {
  const tiles = byId("parcels", HTMLElement);
  const note = byId("on-table", HTMLElement);
  const own = byId("parcel-own", HTMLButtonElement);
  const form = byId("own", HTMLFormElement);
  const field = (name: string): HTMLInputElement => byId(`own-${name}`, HTMLInputElement);
  let current: TableParcel | null = null;

  async function put(parcel: unknown): Promise<void> {
    await control.post("parcel", { device: shown(), parcel });
  }

  function openForm(open: boolean): void {
    form.hidden = !open;
    own.setAttribute("aria-expanded", String(open));
  }

  function show(parcel: TableParcel | null): void {
    current = parcel;
    setText(note, described(parcel));
    const pressed = tileOf(parcel);
    for (const tile of tiles.querySelectorAll("button")) {
      tile.setAttribute("aria-pressed", String(tile.id === pressed));
    }
  }

  function addTile(parcel: CatalogueParcel): void {
    const tile = fromTemplate("parcel-tile");
    const { name, title, lengthCm, widthCm, heightCm, weightKg } = parcel;
    tile.id = `parcel-${name}`;
    tile.title = `${dimensions(lengthCm, widthCm, heightCm)} cm, ${number(weightKg)} kg, ${parcel.barcode}`;
    within(tile, "img", HTMLImageElement).src = `catalogue/${name}/color`;
    setText(within(tile, "b", HTMLElement), title);
    tile.addEventListener("click", () => void put(name));
    tiles.insertBefore(tile, byId("parcel-none", HTMLElement));
  }

  async function load(): Promise<void> {
    const answer: unknown = await (await fetch("catalogue")).json();
    v.parse(v.array(catalogueParcel), answer).forEach(addTile);
    show(current);
  }

  byId("parcel-none", HTMLElement).addEventListener("click", () => void put(null));
  byId("parcel-failing", HTMLElement).addEventListener("click", () => void put(failingParcel));
  own.addEventListener("click", () => openForm(form.hidden !== false));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const error = field("error").value;
    void put({
      lengthCm: field("length").valueAsNumber,
      widthCm: field("width").valueAsNumber,
      heightCm: field("height").valueAsNumber,
      weightKg: field("weight").valueAsNumber,
      barcode: field("barcode").value,
      ...(error === "" ? {} : { errorCode: ownErrorCode, errorMessage: error }),
    });
  });
  void load();
  return show;
}
