// Browsers start no worker for a page that is a file. The search of the site asks for one: there it
// gets a hidden frame that does the same. The theme's plugin would load such a script from elsewhere.
class FrameWorker extends EventTarget {
  constructor(url) {
    super()
    this.frame = document.createElement("iframe")
    this.frame.hidden = true
    this.started = new Promise((resolve) => this.frame.addEventListener("load", resolve))
    document.body.appendChild(this.frame)
    const inside = this.frame.contentWindow
    inside.document.open()
    inside.document.write(
      `<script>
        postMessage = (data) => parent.postMessage(data, "*")
        importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done) => {
          const script = document.createElement("script")
          script.onload = done
          script.src = url
          document.body.appendChild(script)
        })), Promise.resolve())
      </script><script src="${new URL(url, document.baseURI)}"></script>`
    )
    inside.document.close()
    this.receive = (event) => {
      if (event.source !== inside) return
      const message = new MessageEvent("message", { data: event.data })
      this.dispatchEvent(message)
      this.onmessage?.(message)
    }
    window.addEventListener("message", this.receive)
  }

  postMessage(data) {
    this.started.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })))
  }

  terminate() {
    window.removeEventListener("message", this.receive)
    this.frame.remove()
  }
}

if (location.protocol === "file:") self.Worker = FrameWorker
