const answer = await fetch("/api/explore");
document.querySelector("#view").textContent = await answer.text();
