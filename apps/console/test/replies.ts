/** Well-formed and malformed replies of models. */

export const RICH = `写好了：\`list_files.py\` 会遍历当前目录的**所有文件**，包括子目录。

\`\`\`python
import os

for folder, _, names in os.walk("."):
    for name in names:
        print(os.path.join(folder, name))  # a line long enough that it has to be scrolled to be read in full
\`\`\`

### 怎么运行

1. 打开终端
2. 执行 \`python3 list_files.py\`
   - 加 \`-h\` 看*全部*选项
   - 见 [文档](https://docs.python.org/3/library/os.html#os.walk)

| 选项 | 含义 |
| --- | --- |
| \`-a\` | 也列出隐藏文件 |
| \`-d N\` | 最多 N 层 |

> 第一次写入失败了，因为目录是只读的；我换了一个目录再写。

More at https://example.org/notes.`;

export const HOSTILE = `<script>window.pwned=1</script><img src=x onerror="window.pwned=1">
<svg onload=window.pwned=1><iframe src="https://evil.example/"></iframe>
[click](javascript:window.pwned=1) [data](data:text/html,<script>window.pwned=1</script>)
![pixel](https://evil.example/pixel.png?secret=1) ![x](javascript:window.pwned=1)
[https://bank.example](https://evil.example/) <a href="javascript:window.pwned=1">x</a>
<style>*{display:none}</style><base href="https://evil.example/"><form action="https://evil.example"><input></form>
\`\`\`html" onload="window.pwned=1
</code></pre><script>window.pwned=1</script>
\`\`\`
| <b onmouseover=window.pwned=1>x</b> | y |
|---|---|
| <img src=x onerror=window.pwned=1> | [z](vbscript:x) |
`;
