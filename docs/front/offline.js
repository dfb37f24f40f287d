// The site's pages are kept for times without a network, in a quiet moment.
export function keepPages() {
  navigator.serviceWorker?.register(document.body.dataset.worker).then(() => navigator.serviceWorker.ready)
    .then(({active}) => setTimeout(() => active.postMessage("keep pages"), 15000)).catch(() => {});
}
