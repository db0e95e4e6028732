// A plugin of ours for dsh: it resumes a stored session through the public registry, sends prompts, and tells what came
// of it. The shipped headless profile can only start new sessions. Orders come in SEAMLINE_ORDERS:
// {session, prompts, compact, list}.
import { pathToFileURL } from 'node:url'
const load = (name) => import(pathToFileURL(`${process.env.SEAMLINE_MODULES}/@deepseek-ai/${name}/lib/index.js`).href)
const say = (value) => console.log('CLIENT ' + JSON.stringify(value))
const words = (error) => [error?.message ?? String(error), error?.cause?.message].filter(Boolean).join(' | ')
export const name = 'seamline-driver'
export const inject = ['agentDefaultModel', 'agents', 'sessions', 'sessionPersistence', 'headlessStartup']
export function apply(ctx) {
  const exit = ctx.get('appExit')
  run(ctx, JSON.parse(process.env.SEAMLINE_ORDERS)).then(() => exit(0), (error) => {
    say({ error: words(error) })
    exit(3)
  })
}
async function run(ctx, orders) {
  await ctx.get('loader')?.await()
  if (orders.list) {
    say({ listed: (await ctx.get('sessionPersistence').list()).map((header) => header.id) })
    return
  }
  const { installModelSelection } = await load('dsh-agent')
  const { createUserMessage } = await load('dsh-llm')
  const selection = ctx.get('agentDefaultModel').currentSelection()
  const { agent } = await ctx.get('agents').resume({
    resumeSessionId: orders.session,
    agentOptions: { provider: selection.provider, model: selection.model },
    setup: (c) => { installModelSelection(c, { current: selection, assembled: undefined }) },
  })
  await agent.whenIdle()
  const session = agent.session
  const stored = session.events.length
  const spliced = session.events.filter((event) => event.type === 'agent/inbox/spliced')
  const queued = new Set(spliced.flatMap((event) => event.data.inserted.map((message) => message.id)))
  for (const text of orders.prompts) {
    agent.followup(createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } }))
    await agent.whenIdle()
  }
  if (orders.compact) {
    // the operation behind dsh's own /compact
    try {
      await ctx.get('compaction').compactNow(agent, new AbortController().signal)
    } catch (error) {
      say({ compact: words(error) })
    }
  }
  await ctx.get('sessions').flush(session)
  const added = session.events.slice(stored)
  // user messages that dsh added by itself: neither typed nor waiting in the stored inbox
  const own = (event) => event.type === 'user/message' && event.data.source.kind !== 'user' && !queued.has(event.data.id)
  say({
    end: added.findLast((event) => event.type === 'turn/end')?.data.reason,
    made: added.filter(own).map((event) => event.data.content.map((block) => block.text ?? '').join('')),
  })
}
