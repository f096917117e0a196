// SPDX-License-Identifier: GPL-3.0-or-later
//
// A job type for Flamenco 3: bakes each variant of a wedge, renders it in chunks once its bake is done, collects the
// table and the contact sheet at the end. Copy it into the `scripts` folder of the Manager. The wedge and
// `thin_shell_task.py` are files of a bundle that Thin Shell exports (Export Farm Job).

const JOB_TYPE = {
    label: "Thin Shell Bake",
    description: "Bake the variants of a wedge, render them, and collect",
    settings: [
        { key: "spec", type: "string", subtype: "file_path", required: true, visible: "submission",
          description: "wedge.json of the exported bundle, on storage that all workers see" },
        { key: "variants", type: "string", required: true, default: "1", visible: "submission",
          description: "Numbers of the variants to bake. Examples: '1-6', '2, 4, 7-9'" },
        { key: "cache_folder", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Caches go here, a folder a variant, with the table and the contact sheet" },
        { key: "threads", type: "int32", default: 1, propargs: { min: 1, max: 64 }, visible: "submission",
          description: "Threads of a bake; results are the same with any number" },
        { key: "render", type: "bool", default: true, required: false, visible: "submission",
          description: "Render every variant after its bake" },
        { key: "frames", type: "string", required: true, visible: "submission",
          eval: "f'{C.scene.frame_start}-{C.scene.frame_end}'",
          evalInfo: { showLinkButton: true, description: "Scene frame range" },
          description: "Frames to render. Examples: '47', '1-30', '3, 5-10, 47-327'" },
        { key: "chunk_size", type: "int32", default: 10, propargs: { min: 1 }, visible: "submission",
          description: "Frames of one render task" },
        { key: "render_folder", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Pictures go here, a folder a variant number" },
        { key: "blendfile", type: "string", required: true, visible: "web",
          description: "The file; no task writes it" },
        { key: "format", type: "string", required: true, visible: "web",
          eval: "C.scene.render.image_settings.file_format", description: "Format of the pictures" }
    ]
};

// What the tasks ask of the extension on a worker.
const FORMAT = "1";

function compileJob(job) {
    const settings = job.settings;
    const numbers = frameChunker(settings.variants, 1);
    const collect = author.Task("collect", "blender");
    collect.addCommand(command(settings, [], ["collect"]));
    numbers.forEach((number) => {
        const bake = author.Task("bake-" + number, "blender");
        bake.addCommand(command(settings, [], [
            "bake", "--variant", number, "--threads", "" + settings.threads, "--no-save"
        ]));
        job.addTask(bake);
        collect.addDependency(bake);
        if (!settings.render) {
            return;
        }
        frameChunker(settings.frames, settings.chunk_size).forEach((chunk) => {
            const render = author.Task("render-" + number + "-" + chunk, "blender");
            render.addCommand(command(settings, pictures(settings, number, chunk), ["show", "--variant", number]));
            render.addDependency(bake);
            job.addTask(render);
        });
    });
    job.addTask(collect);
}

// What Blender's own command line renders, once the task script lets the shells play their variant.
function pictures(settings, number, chunk) {
    return [
        "--render-output", settings.render_folder + "/" + number + "/######",
        "--render-format", settings.format,
        "--render-frame", chunk.replace(/-/g, "..")
    ];
}

function command(settings, own, words) {
    return author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}",
        argsBefore: [],
        blendfile: settings.blendfile,
        args: ["--python", script(settings.spec)].concat(own, ["--", FORMAT], words, [
            "--spec", settings.spec, "--cache-folder", settings.cache_folder
        ])
    });
}

// The task script lies beside the wedge.
function script(spec) {
    return spec.replace(/[^\/\\]*$/, "") + "thin_shell_task.py";
}
