// Keeps a page as the server says the run is, until it ends. What comes is HTML that the server has escaped.
"use strict";

{
  const live = document.getElementById("live");
  const connection = document.getElementById("connection");
  const events = new EventSource(live.dataset.events);
  const show = (event) => {
    live.innerHTML = event.data;
    connection.hidden = true;
  };
  events.addEventListener("state", show);
  events.addEventListener("end", (event) => {
    show(event);
    events.close();
  });
  // The browser connects again by itself.
  events.addEventListener("error", () => {
    connection.hidden = false;
  });
}
