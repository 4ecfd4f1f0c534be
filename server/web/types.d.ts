// The shapes of the data that the modules pass on, for people and for tsc alone: it is not a part of the page.

type Matrix = number[][];
type Holes = (number | null)[][]; // null is minus infinity

/** A body of POST /v1/attention. */
type Question = Record<string, any>;

/** One head of a request made plain. */
interface Head {
  q: Matrix;
  k: Matrix;
  v: Matrix;
  allowed: boolean[][];
  bias: Holes | null;
  slope: number;
  sink: number | null;
  away: number[][];
}
interface Operands {
  batch: number;
  heads: number;
  kvHeads: number;
  n: number;
  m: number;
  dk: number;
  dv: number;
  scale: number;
  all: Head[][];
}

/** By the names of the service: scores, scaled, ... weights. */
type Steps = Record<string, any>;
/** One head, computed. */
interface Slice {
  q: Matrix;
  k: Matrix;
  v: Matrix;
  allowed: boolean[][];
  steps: Steps;
  weights: Matrix;
  output: Matrix;
}
interface Shape {
  batch: number;
  heads: number;
  kvHeads: number;
  queries: number;
  keys: number;
  dk: number;
  dv: number;
}
interface Labels {
  query: string[];
  key: string[];
}
interface Chain {
  shape: Shape;
  scale: number;
  labels: Labels;
  slices: Slice[][];
  result: Matrix[] | null; // after W_O, where there is one
}

/** What a person has chosen. */
interface State {
  request: Question; // without what the page itself asks for (include)
  title: string; // of the example, "" once the request is one's own
  temperature: number; // divides the scale
  lens: string; // steps, or a lesson
  step: string;
  batch: number;
  head: number;
  query: number;
  key: number;
  feature: number;
  pinned: boolean;
  turned: boolean; // rows and columns are drawn the other way round
  log: boolean; // colours by the logarithm
  fitted: boolean; // colours up to the largest number there is, not up to 1
}
/** look: another view of the same; draft: in the middle of a change; commit: a change that Back undoes; history: Back itself. */
type How = "look" | "draft" | "commit" | "history";
type Store = import("./state.js").Store;

interface Problem {
  detail: string;
  title?: string;
  pointer?: string;
  status: number;
  code?: string;
  errors?: { detail: string; pointer?: string }[];
}
interface Answer {
  status: number;
  id: string;
  timing: string;
  milliseconds: number;
  text: string;
  json: any;
  problem: Problem | null;
}
type Api = import("./api.js").Api;

/** The numbers, and how they stand. */
interface Model {
  chain: Chain | null; // what is drawn
  own: Chain | null; // what this page computed
  unable: string; // why it could not
  body: object; // the request as it is sent, without include
  answer: Answer | null; // the last one
  problem: Problem | null;
  waiting: boolean; // the numbers are the page's own until the service answers
  offline: boolean;
  apart: number | null; // largest difference between the two
}

interface Step {
  id: string; // the service's name, or start, mix, output
  view: "start" | "pairs" | "mix" | "output";
  shows?: string; // the step whose n x m matrix stands on the stage, where it is not its own
  side?: "row_max" | "row_sum"; // a column of one number a row beside it
  paint: "around" | "share";
  hides?: boolean; // hidden pairs are hatched from here on
  formula: Formula[];
  spoken: string;
}

type Rgb = import("./colour.js").Rgb;
type Paint = import("./colour.js").Paint;
/** One number for each row, or for each column. */
interface Strip {
  label: string;
  values: (number | null)[];
  paint?: (x: number) => Paint;
  hidden?: boolean[];
}
/** What stands on the stage. */
interface Picture {
  rows: string[];
  cols: string[];
  rowAxis: string;
  colAxis: string;
  values: Holes;
  hatched: boolean[][] | null;
  marked: boolean[][] | null; // the cells that a side column speaks of
  paint: (x: number) => Paint;
  lead: Strip | null; // left of the matrix
  side: Strip | null; // right of it
  foot: Strip | null; // below it
  legend: { kind: "share" | "around"; low: string; high: string };
  exact?: boolean; // numbers as somebody typed them
}
interface Look {
  log: boolean;
  fitted: boolean;
  query: number;
  feature?: number;
  onPaper?: boolean;
}

/** A cell of a grid. */
interface Mark {
  i: number;
  j: number;
  pinned?: boolean;
  decimals?: number;
}
interface Listener {
  onSelect: (i: number, j: number) => void; // the focus came here
  onAct?: (i: number, j: number, how: "pin" | "toggle" | "press") => void; // Enter, Space, or a click
  onHover?: (i: number, j: number) => void;
  onLeave?: () => void;
  onEscape?: () => void;
}

interface View {
  step: Step;
  state: State;
  chain: Chain;
  slice: Slice;
  result: number[][];
  cell: Cell;
  i: number;
  j: number;
  c: number;
}
interface Acts {
  hover: (i: number, j: number) => void; // the cell under the mouse, in the picture's own rows and columns
  leave: () => void;
  toggle: (i: number, j: number) => void; // the mask of a pair
  edit: (name: string, i: number, j: number) => void; // the field of an input
}

/** What there is to look at in a lesson. */
interface Sight {
  state: State;
  chain: Chain;
  slice: Slice;
  result: number[][];
  body: Question;
  model: Model;
}
interface Lesson {
  node: HTMLElement;
  update: (scene: Sight) => void;
  stop?: () => void; // it is no longer looked at
}
interface Tools {
  api: Api;
  store: Store;
}

/** What there is to take out. */
interface Source {
  body: () => object; // the request as it is sent
  head: () => { slice: Slice; scale: number } | null;
  picture: () => { picture: Picture; title: string } | null; // painted for paper
  reply: () => any;
}

type Attributes = import("./dom.js").Attributes;
type Child = import("./dom.js").Child;
type Formula = import("./dom.js").Formula;
type Cell = import("./tell.js").Cell;
type Piece = import("./tell.js").Piece;
type Scene = import("./tell.js").Scene;
type Spot = import("./edit.js").Spot;
interface Example {
  name: string;
  title: string;
  teaches: string;
  request?: Question;
  temperature?: number;
  step?: string;
}
