// Updates the page until the run ends. The server sends escaped HTML.
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
  // The browser reconnects automatically.
  events.addEventListener("error", () => {
    connection.hidden = false;
  });
}
