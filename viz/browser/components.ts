// By build.mjs: each component by the name of its file.

export { Architecture as architecture } from "./architecture/view.ts";
export { AttentionMap as attention_map } from "./attention_map/view.ts";
export { BeamTree as beam_tree } from "./beam_tree/view.ts";
export { HeadGrid as head_grid } from "./head_grid/view.ts";
export { InsideHead as inside_head } from "./inside_head/view.ts";
export { MaskGrids as mask_grids } from "./mask_grids.ts";
export { Player as player } from "./player/view.ts";
export { Ribbons as ribbons } from "./ribbons.ts";
export { StepBars as step_bars } from "./step_bars.ts";
export { TensorStrip as tensor_strip } from "./tensor_strip.ts";
export { TranslationEditor as translation_editor } from "./translation_editor/view.ts";
export { WordLinks as word_links } from "./word_links/view.ts";
