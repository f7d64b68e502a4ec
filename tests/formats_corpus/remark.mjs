// Prints the tree of the MDX on standard input as JSON.
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { readFileSync } from "node:fs"
import { join } from "node:path"

// Installed by `make formats-corpus`, apart from this file.
const folder = process.env.FORMATS_NODE_MODULES
const require = createRequire(join(folder, "index.js"))
const load = (name) => import(pathToFileURL(require.resolve(name)))
const { unified } = await load("unified")
const { default: parse } = await load("remark-parse")
const { default: mdx } = await load("remark-mdx")
const bare = (node) => {
  const { position, data, ...rest } = node
  if (rest.children) rest.children = rest.children.map(bare)
  if (rest.attributes) rest.attributes = rest.attributes.map((each) => JSON.stringify(bare(each)))
  return rest
}
process.stdout.write(JSON.stringify(bare(unified().use(parse).use(mdx).parse(readFileSync(0, "utf8")))))
