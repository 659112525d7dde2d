// Improvements over plain forms: pages work without this file.
"use strict";

document.documentElement.classList.add("js");

// A run that is under way: events, and where they fail, questions every second.
for (const box of document.querySelectorAll("[data-events]")) {
  const text = box.querySelector(".stage");
  const bar = box.querySelector("progress");
  const show = (now) => {
    if (now.status !== "running") {
      location.reload();
      return false;
    }
    if (text.dataset.stage !== now.stage) {
      text.dataset.stage = now.stage;
    }
    text.textContent = now.text;
    if (now.share === null) bar.removeAttribute("value");
    else bar.value = now.share;
    return true;
  };
  const poll = async () => {
    try {
      const answer = await fetch(box.dataset.status);
      if (!show(await answer.json())) return;
    } catch {
      text.textContent = "The app does not answer; is it still running?";
    }
    setTimeout(poll, 1000);
  };
  if (!window.EventSource) {
    poll();
    continue;
  }
  const events = new EventSource(box.dataset.events);
  events.onmessage = (event) => {
    if (!show(JSON.parse(event.data))) events.close();
  };
  events.onerror = () => {
    events.close();
    poll();
  };
}

// A table that is being read.
for (const line of document.querySelectorAll("[data-looking]")) {
  const poll = async () => {
    try {
      const now = await (await fetch(line.dataset.looking)).json();
      if (now.status !== "running") {
        location.reload();
        return;
      }
    } catch {
      // asked again below
    }
    setTimeout(poll, 400);
  };
  setTimeout(poll, 300);
}

// Options that belong to the model that is chosen.
const showOptions = (form) => {
  const kind = form.querySelector("select[name=model]").value;
  for (const part of form.querySelectorAll("[data-for]")) {
    part.hidden = !part.dataset.for.split(" ").includes(kind);
  }
};
for (const form of document.querySelectorAll("form[data-model]")) {
  showOptions(form);
  form.addEventListener("change", () => showOptions(form));
}

// A permission that belongs to some roles only.
for (const box of document.querySelectorAll("[data-roles]")) {
  const role = box.closest(".choice").querySelector("select.role");
  role.addEventListener("change", () => {
    box.hidden = !box.dataset.roles.split(" ").includes(role.value);
  });
}

// A file that is dropped, and how much of it has been sent.
const upload = document.getElementById("upload");
if (upload) {
  const input = upload.querySelector("input[type=file]");
  const drop = upload.querySelector(".drop");
  const state = document.getElementById("upload-state");
  const send = (file) => {
    const body = new FormData();
    body.append("file", file, file.name);
    const request = new XMLHttpRequest();
    request.open("POST", upload.action);
    request.setRequestHeader("X-Upload", "1");
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) {
        state.textContent = `Copying: ${Math.round((100 * event.loaded) / event.total)} %`;
      }
    };
    request.onload = () => {
      const next = request.getResponseHeader("x-location");
      if (next) location.assign(next);
      else state.textContent = request.getResponseHeader("x-problem") ?? "The file could not be taken.";
    };
    request.onerror = () => {
      state.textContent = "The app does not answer; is it still running?";
    };
    request.send(body);
  };
  upload.addEventListener("submit", (event) => {
    if (input.files.length) {
      event.preventDefault();
      send(input.files[0]);
    }
  });
  input.addEventListener("change", () => {
    if (input.files.length) send(input.files[0]);
  });
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
}

// What was entered before htmx was there, or what a browser puts back into a page that is loaded again, counts as well.
const isChanged = (field) => {
  if (field instanceof HTMLSelectElement) {
    const first = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex !== Math.max(0, first);
  }
  return field.type === "checkbox" || field.type === "radio"
    ? field.checked !== field.defaultChecked
    : field.value !== field.defaultValue;
};
// htmx, whose script comes before this one, sets itself up in the same way: so this comes after it.
setTimeout(() => {
  for (const form of document.querySelectorAll("form[hx-trigger]")) {
    const field = [...form.elements].find((one) => one.name && isChanged(one));
    field?.dispatchEvent(new Event("change", { bubbles: true }));
  }
});
