// Every component by the name that Python calls it by: how its data are read, what shows them, and
// whether Python hears what the reader selects.

import { read as readModel } from "./architecture/data.js";
import { Architecture } from "./architecture/view.js";
import { read as readMap } from "./attention_map/data.js";
import { AttentionMap } from "./attention_map/view.js";
import { read as readTree } from "./beam_tree/data.js";
import { BeamTree } from "./beam_tree/view.js";
import { adoptStyle } from "./core/style.js";
import { mount } from "./core/view.js";
import { decode } from "./core/wire.js";
import { read as readGrid } from "./head_grid/data.js";
import { HeadGrid } from "./head_grid/view.js";
import { read as readInside } from "./inside_head/data.js";
import { InsideHead } from "./inside_head/view.js";
import { read as readMasks } from "./mask_grids/data.js";
import { MaskGrids } from "./mask_grids/view.js";
import { read as readRibbons } from "./ribbons/data.js";
import { Ribbons } from "./ribbons/view.js";
import { read as readSteps } from "./step_bars/data.js";
import { StepBars } from "./step_bars/view.js";
import { read as readStrip } from "./tensor_strip/data.js";
import { TensorStrip } from "./tensor_strip/view.js";
import { read as readEditor } from "./translation_editor/data.js";
import { TranslationEditor } from "./translation_editor/view.js";
import { read as readLinks } from "./word_links/data.js";
import { WordLinks } from "./word_links/view.js";

/** @import { Options } from "./core/view.js" */
/** @import { Message } from "./core/wire.js" */

/** @typedef {import("./core/view.js").View<any>} View */

/**
 * @type {Record<string, {Component: new () => View, read: (message: Message) => any,
 *   sends?: boolean}>}
 */
const COMPONENTS = {
  architecture: { Component: Architecture, read: readModel, sends: true },
  attention_map: { Component: AttentionMap, read: readMap },
  beam_tree: { Component: BeamTree, read: readTree, sends: true },
  head_grid: { Component: HeadGrid, read: readGrid, sends: true },
  inside_head: { Component: InsideHead, read: readInside, sends: true },
  mask_grids: { Component: MaskGrids, read: readMasks, sends: true },
  ribbons: { Component: Ribbons, read: readRibbons },
  step_bars: { Component: StepBars, read: readSteps, sends: true },
  tensor_strip: { Component: TensorStrip, read: readStrip },
  translation_editor: { Component: TranslationEditor, read: readEditor, sends: true },
  word_links: { Component: WordLinks, read: readLinks },
};

/**
 * Show what Python has encoded; call again to show other data in the same place.
 * @param {Element | ShadowRoot} element is filled
 * @param {Uint8Array} bytes
 * @param {Options} [options]
 * @returns {View}
 */
export const render = (element, bytes, options) => renderMessage(element, decode(bytes), options);

/** @param {Message} message */
export const sends = ({ meta }) => Boolean(COMPONENTS[meta.component].sends || meta.paints);

/**
 * @param {Element | ShadowRoot} element
 * @param {Message} message
 * @param {Options} [options]
 */
export function renderMessage(element, message, options) {
  adoptStyle(element);
  const { Component, read } = COMPONENTS[message.meta.component];
  return mount(element, Component, read(message), options);
}
