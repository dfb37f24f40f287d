// Runs before any script of the page. Says when what a cell shows changed after a key press, and whether it collapsed
// on the way. What counts is what outputs show (tables, drawings, texts), never the read-out of the slider itself.
(() => {
  // anywidget gives a widget up that is not there within two seconds; with one browser per core, a page can take longer.
  const {timeout} = AbortSignal;
  AbortSignal.timeout = limit => timeout.call(AbortSignal, Math.max(limit, 60_000));
  const SHOWN = 'canvas,svg,img,table,pre,.widget-html-content,.widget-label:not(.widget-slider *),[role=status]';
  const P = window.__probe = {armed: false, dirty: false, changed: 0, key: 0, first: 0, last: 0, shown: '', collapse: 0,
    heights: []};
  const areas = () => [...document.querySelectorAll('.jp-OutputArea')];
  const drawn = e => e.tagName === 'CANVAS' ? e.toDataURL() : e.tagName === 'IMG' ? e.src : e.outerHTML;
  const shown = () => areas().flatMap(a => [...a.querySelectorAll(SHOWN)].map(drawn)).join('|');
  P.arm = () => {
    Object.assign(P, {armed: true, dirty: false, key: 0, first: 0, last: 0, shown: shown(), collapse: 0});
    P.heights = areas().map(a => [a, a.getBoundingClientRect().height]);
  };
  P.disarm = () => {
    P.armed = false;
    return {first: P.first && P.first - P.key, last: P.last && P.last - P.key, collapse: P.collapse};
  };
  addEventListener('keydown', e => { if (P.armed && !P.key) P.key = e.timeStamp; }, true);
  addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
    P.dirty = true;
    P.changed = performance.now();
  }).observe(
    document.body, {subtree: true, childList: true, characterData: true, attributes: true}));
  // A widget's output is a panel without a mime type, empty until the widget is drawn; Voila's outputs begin as scripts.
  P.settled = () => performance.now() - P.changed > 700
    && !document.querySelector('script[type="application/vnd.voila.cell-output+json"]')
    && [...document.querySelectorAll('.jp-OutputArea-output.lm-Panel:not([data-mime-type]):not(.lm-mod-hidden)')]
      .every(panel => panel.childElementCount);
  const frame = () => {
    if (P.armed) {
      for (const [area, height] of P.heights)
        P.collapse = Math.max(P.collapse, height - area.getBoundingClientRect().height);
      // A canvas is painted without a mutation, so where there is one every frame is compared.
      if (P.key && (P.dirty || document.querySelector('.jp-OutputArea canvas'))) {
        P.dirty = false;
        const now = shown();
        if (now !== P.shown) { P.shown = now; P.last = performance.now(); P.first ||= P.last; }
      }
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})();
